/** What an assessor asks for, from the lock file, the tables of the API and the list of attacks. */
import { endpoints, groups, officeEndpoints } from '../../schemas/index.ts'
import { attacks } from '../attacks/attacks.ts'
import type { GeneratedPart } from './facts.ts'
import { code, table } from './markdown.ts'
import { direct, licenceOf, ofRepository, production, reasons } from './packages.ts'

const codes = (names: readonly string[]) => names.map(code).join(', ')
const ordered = (names: readonly string[]) => [...new Set(names)].sort()

function packages(): string[] {
  const { version } = production.find(({ name }) => name === ofRepository[0])!
  return table(
    ['package', 'version', 'licence', 'needed by', 'purpose', 'brings'],
    [
      ...direct.map(({ found, namedBy, brings }) => {
        const { name, version } = found
        const reason = reasons[name]
        if (reason === undefined) throw new Error(`${name} has no reason in test/docs/packages.ts`)
        const users = namedBy.map((one) => one.replace('@tollgate/', '')).join(', ')
        return [code(name), version, licenceOf(found), users, reason, codes(brings)]
      }),
      [
        codes(ofRepository),
        version,
        'MIT',
        'this repository',
        'Runs its scripts: the Node of the machine.',
        '',
      ],
    ],
  )
}

function licences(): string[] {
  return table(
    ['licence', 'packages'],
    ordered(production.map(licenceOf)).map((licence) => {
      const names = ordered(
        production.filter((one) => licenceOf(one) === licence).map(({ name }) => name),
      )
      return [licence, licence === 'MIT' ? `${names.length} packages` : codes(names)]
    }),
  )
}

const classes = [
  ['pan', 'account number: sealed or not stored, never returned'],
  ['sad', 'authentication data: never stored, never returned'],
] as const

function accountData(): string[] {
  const fields = groups.flatMap((group) => group.fields)
  return table(
    ['class', 'fields'],
    classes.map(([name, meaning]) => [
      `${code(name)}, ${meaning}`,
      codes(ordered(fields.filter((field) => field.class === name).map((field) => field.name))),
    ]),
  )
}

const proofs = {
  none: 'none',
  checkout: 'the id of a checkout',
  return: 'the token in the address',
} as const

function withoutToken(): string[] {
  const ofMerchants = Object.entries(proofs).map(([login, proof]) => {
    const open = endpoints.filter((one) => one.login === login)
    return [proof, codes(open.map(({ method, path }) => `${method} ${path}`))]
  })
  const ofOperators = officeEndpoints.filter(({ right }) => right === 'none')
  return table(
    ['what proves the client', 'requests'],
    [
      ...ofMerchants,
      [
        'password or invitation of an operator',
        codes(ofOperators.map(({ method, path }) => `${method} ${path}`)),
      ],
    ],
  )
}

function attackList(): string[] {
  return table(
    ['attack', 'what it tries'],
    attacks.map(({ name, title }) => [code(name), title]),
  )
}

export const securityParts = (): GeneratedPart[] => [
  { page: 'docs/dependencies.md', name: 'packages', lines: packages() },
  { page: 'docs/dependencies.md', name: 'licences', lines: licences() },
  { page: 'docs/compliance.md', name: 'account data', lines: accountData() },
  { page: 'docs/compliance.md', name: 'requests without a token', lines: withoutToken() },
  { page: 'docs/compliance.md', name: 'attacks', lines: attackList() },
]
