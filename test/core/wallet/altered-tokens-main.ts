/** `npm run wallet-tokens [-- 10000 [googlePay]]`: altered tokens of each wallet, one text, and the durations of the classes. */
import { startWithWallets, walletFields } from '../../rig/wallets.ts'
import { printed, sendAltered } from './altered-tokens.ts'

const many = Number(process.argv[2] ?? 10_000)
const run = await startWithWallets()
const only = process.argv[3]
for (const field of walletFields.filter((one) => only === undefined || one === only)) {
  const found = await sendAltered(run, field, many)
  console.log(
    `${field}: ${found.refused} refused with ${found.answers.length} text, ${found.same} were the same token, ${found.opened} opened`,
  )
  for (const text of found.answers) console.log(`  ${text}`)
  for (const line of printed('open', found.within)) console.log(line)
  for (const line of printed('request', found.outside)) console.log(line)
  if (found.answers.length !== 1 || found.opened > 0) process.exitCode = 1
}
await run.close()
