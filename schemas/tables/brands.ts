/**
 * Payment brands: the values of `paymentBrand` and their requirements. Number ranges known to the
 * card-range library are not repeated; `ranges` adds others.
 */

/** CC credit card, DC debit card, DD direct debit, OT online transfer, VA virtual account, WA wallet, IV invoice, PP prepayment. */
export type BrandMethod = 'CC' | 'DC' | 'DD' | 'OT' | 'VA' | 'WA' | 'IV' | 'PP'

/** Group of request fields that holds the account of a brand. */
export type AccountGroup = 'card' | 'bankAccount' | 'virtualAccount' | 'applePay' | 'googlePay' | 'samsungPay'

/** Whether the answer can be final at once, or the shopper is redirected first. */
export type BrandFlow = 'sync' | 'redirect'

export type Brand = {
  readonly code: string
  readonly title: string
  readonly method: BrandMethod
  readonly flow: BrandFlow
  /** The group of the account; null when the brand has none of its own. */
  readonly account: AccountGroup | null
  /** Whether the account must be sent. */
  readonly accountNeeded: boolean
  readonly aliases: readonly string[]
  /** Cards: brands whose ranges also contain this one. */
  readonly hosts: readonly string[]
  /** Cards: first digits, inclusive, both ends equally long. */
  readonly ranges: readonly (readonly [from: string, to: string])[]
  /** Cards: digits of a number. Empty: any. */
  readonly numberLengths: readonly number[]
  /** Cards: digits of a security code. Empty: any. */
  readonly cvvLengths: readonly number[]
  /** Cards: refused without a security code while the shopper is present. */
  readonly cvvNeeded: boolean
}

type CardRow = readonly [
  code: string,
  title: string,
  method: 'CC' | 'DC',
  numberLengths: readonly number[],
  cvvLengths: readonly number[],
  more?: Partial<Pick<Brand, 'aliases' | 'hosts' | 'ranges' | 'cvvNeeded'>>,
]

const cards: readonly CardRow[] = [
  // International schemes.
  ['VISA',            'Visa',                 'CC', [13, 16, 18, 19],                 [3]],
  ['MASTER',          'Mastercard',           'CC', [16],                             [3]],
  ['AMEX',            'American Express',     'CC', [15],                             [4], { aliases: ['AMERICAN_EXPRESS'] }],
  ['DINERS',          'Diners Club',          'CC', [14, 16, 19],                     [3], { aliases: ['DINERS_CLUB'] }],
  ['DISCOVER',        'Discover',             'CC', [16, 19],                         [3]],
  ['JCB',             'JCB',                  'CC', [16, 17, 18, 19],                 [3]],
  ['UNIONPAY',        'UnionPay',             'CC', [14, 15, 16, 17, 18, 19],         [3]],
  ['MAESTRO',         'Maestro',              'DC', [12, 13, 14, 15, 16, 17, 18, 19], [3]],
  ['UATP',            'UATP',                 'CC', [15],                             [],  { ranges: [['1', '1']] }],

  // Sub-brands of the international schemes.
  ['VISADEBIT',       'Visa Debit',           'DC', [13, 16, 18, 19],                 [3], { hosts: ['VISA'] }],
  ['VISAELECTRON',    'Visa Electron',        'DC', [16],                             [3], { hosts: ['VISA'] }],
  ['VPAY',            'V PAY',                'DC', [13, 16, 18, 19],                 [3], { hosts: ['VISA'] }],
  ['MASTERDEBIT',     'Debit Mastercard',     'DC', [16],                             [3], { hosts: ['MASTER'] }],
  ['AIRPLUS',         'AirPlus',              'CC', [15, 16],                         [],  { hosts: ['UATP', 'MASTER'] }],

  // Domestic schemes, most of them on cards of an international one.
  ['MADA',            'mada',                 'DC', [16, 18, 19],                     [3], { hosts: ['VISA', 'MASTER', 'MAESTRO'], ranges: [['968201', '968211']] }],
  ['CARTEBANCAIRE',   'Carte Bancaire',       'DC', [16, 18, 19],                     [3], { hosts: ['VISA', 'MASTER', 'MAESTRO'] }],
  ['CARTEBLEUE',      'Carte Bleue',          'CC', [16],                             [3], { hosts: ['VISA'] }],
  ['BCMC',            'Bancontact',           'DC', [16, 17, 18, 19],                 [3], { hosts: ['MAESTRO', 'VISA', 'MASTER'] }],
  ['DANKORT',         'Dankort',              'DC', [16],                             [3], { hosts: ['VISA', 'MASTER'], ranges: [['501900', '501999']] }],
  ['POSTEPAY',        'PostePay',             'DC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['PAGOBANCOMAT',    'PagoBancomat',         'DC', [16, 17, 18, 19],                 [3], { hosts: ['VISA', 'MASTER', 'MAESTRO'] }],
  ['SERVIRED',        'ServiRed',             'CC', [16],                             [3], { hosts: ['VISA', 'MASTER', 'MAESTRO'] }],
  ['EFTPOS_AU',       'eftpos Australia',     'DC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['ELO',             'Elo',                  'CC', [16],                             [3], { hosts: ['DISCOVER'], cvvNeeded: true }],
  ['HIPERCARD',       'Hipercard',            'CC', [16],                             [3], { cvvNeeded: true }],
  ['HIPER',           'Hiper',                'CC', [16],                             [3], { cvvNeeded: true }],
  ['NARANJA',         'Naranja',              'CC', [16],                             [3], { aliases: ['TARJETANARANJA'], hosts: ['VISA', 'MASTER'] }],
  ['ARGENCARD',       'Argencard',            'CC', [16],                             [3], { hosts: ['MASTER'], ranges: [['501105', '501105']] }],
  ['CABAL',           'Cabal',                'CC', [16],                             [3]],
  ['CABALDEBIT',      'Cabal Débito',         'DC', [16],                             [3]],
  ['CENCOSUD',        'Cencosud',             'CC', [16],                             [3]],
  ['NATIVA',          'Nativa',               'CC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['TARJETASHOPPING', 'Tarjeta Shopping',     'CC', [16],                             [3]],
  ['MERCADOLIVRE',    'Mercado Livre',        'CC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['CARNET',          'Carnet',               'CC', [16],                             [3]],
  ['AXESS',           'Axess',                'CC', [15, 16],                         [3, 4], { hosts: ['VISA', 'MASTER', 'AMEX'] }],
  ['BONUS',           'Bonus',                'CC', [15, 16],                         [3, 4], { hosts: ['VISA', 'MASTER', 'AMEX'] }],
  ['CARDFINANS',      'CardFinans',           'CC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['MAXIMUM',         'Maximum',              'CC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['WORLD',           'World',                'CC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['ASYACARD',        'Asya Card',            'CC', [16],                             [3], { hosts: ['VISA', 'MASTER'] }],
  ['TROY',            'Troy',                 'CC', [16],                             [3], { hosts: ['DISCOVER'] }],
  ['MIR',             'Mir',                  'CC', [16, 17, 18, 19],                 [3]],
  ['VERVE',           'Verve',                'DC', [16, 18, 19],                     [3]],
  ['MEEZA',           'Meeza',                'DC', [16],                             [3], { ranges: [['507803', '507803'], ['507808', '507811']] }],
  ['RUPAY',           'RuPay',                'DC', [16, 19],                         [3], { hosts: ['DISCOVER', 'JCB'], ranges: [['508500', '508999'], ['606985', '608500'], ['817200', '820199']] }],
  ['BELKART',         'Belkart',              'DC', [16],                             [3], { ranges: [['9112', '9112']] }],
  ['PROSTIR',         'Prostir',              'DC', [16],                             [3], { ranges: [['9804', '9804']] }],
  ['HUMO',            'Humo',                 'DC', [16],                             [3], { ranges: [['9860', '9860']] }],
  ['UZCARD',          'Uzcard',               'DC', [16],                             [3], { ranges: [['8600', '8600']] }],
  ['NAPAS',           'Napas',                'DC', [16, 19],                         [3], { ranges: [['9704', '9704']] }],
]

type OtherRow = readonly [
  code: string,
  title: string,
  method: Exclude<BrandMethod, 'CC' | 'DC'>,
  flow: BrandFlow,
  account: AccountGroup | null,
  need: 'needed' | 'optional',
]

const others: readonly OtherRow[] = [
  // Wallets: an encrypted token, or its decrypted data from the merchant.
  ['APPLEPAY',                 'Apple Pay',              'WA', 'sync',     'applePay',       'needed'],
  ['GOOGLEPAY',                'Google Pay',             'WA', 'sync',     'googlePay',      'needed'],
  ['SAMSUNGPAY',               'Samsung Pay',            'WA', 'sync',     'samsungPay',     'needed'],

  // Bank accounts.
  ['DIRECTDEBIT_SEPA',         'SEPA Direct Debit',      'DD', 'sync',     'bankAccount',    'needed'],
  ['DIRECTDEBIT_ACH',          'ACH Direct Debit',       'DD', 'sync',     'bankAccount',    'needed'],
  ['DIRECTDEBIT_BACS',         'Bacs Direct Debit',      'DD', 'sync',     'bankAccount',    'needed'],
  ['DIRECTDEBIT_BECS',         'BECS Direct Debit',      'DD', 'sync',     'bankAccount',    'needed'],
  ['RATEPAY_ELV',              'Ratepay direct debit',   'DD', 'sync',     'bankAccount',    'needed'],
  ['PAYOLUTION_ELV',           'Payolution direct debit', 'DD', 'sync',    'bankAccount',    'needed'],

  // Virtual accounts.
  ['PAYPAL',                   'PayPal',                 'VA', 'redirect', 'virtualAccount', 'optional'],
  ['PAYPAL_CONTINUE',          'PayPal (continued)',     'VA', 'redirect', 'virtualAccount', 'optional'],
  ['PAYDIREKT',                'paydirekt',              'VA', 'redirect', 'virtualAccount', 'optional'],
  ['AMAZONPAY',                'Amazon Pay',             'VA', 'redirect', 'virtualAccount', 'optional'],
  ['ALIPAY',                   'Alipay',                 'VA', 'redirect', 'virtualAccount', 'optional'],
  ['ALIPAY_PLUS',              'Alipay+',                'VA', 'redirect', 'virtualAccount', 'optional'],
  ['WECHAT_PAY',               'WeChat Pay',             'VA', 'redirect', 'virtualAccount', 'optional'],
  ['TENPAY',                   'Tenpay',                 'VA', 'redirect', 'virtualAccount', 'optional'],
  ['KAKAOPAY',                 'Kakao Pay',              'VA', 'redirect', 'virtualAccount', 'optional'],
  ['PAYPAY',                   'PayPay',                 'VA', 'redirect', 'virtualAccount', 'optional'],
  ['GRABPAY',                  'GrabPay',                'VA', 'redirect', 'virtualAccount', 'optional'],
  ['GCASH',                    'GCash',                  'VA', 'redirect', 'virtualAccount', 'optional'],
  ['SKRILL',                   'Skrill',                 'VA', 'redirect', 'virtualAccount', 'optional'],
  ['MONEYBOOKERS',             'Moneybookers',           'VA', 'redirect', 'virtualAccount', 'optional'],
  ['NETELLER',                 'Neteller',               'VA', 'sync',     'virtualAccount', 'needed'],
  ['QIWI',                     'QIWI',                   'VA', 'sync',     'virtualAccount', 'needed'],
  ['YANDEX',                   'YooMoney',               'VA', 'redirect', 'virtualAccount', 'optional'],
  ['WEBMONEY',                 'WebMoney',               'VA', 'redirect', 'virtualAccount', 'optional'],
  ['CASHU',                    'cashU',                  'VA', 'redirect', 'virtualAccount', 'optional'],
  ['ONECARD',                  'OneCard',                'VA', 'redirect', 'virtualAccount', 'optional'],
  ['MBWAY',                    'MB WAY',                 'VA', 'sync',     'virtualAccount', 'needed'],
  ['BLIK',                     'BLIK',                   'VA', 'sync',     'virtualAccount', 'needed'],
  ['BIZUM',                    'Bizum',                  'VA', 'redirect', 'virtualAccount', 'optional'],
  ['SWISH',                    'Swish',                  'VA', 'redirect', 'virtualAccount', 'optional'],
  ['VIPPS',                    'Vipps',                  'VA', 'redirect', 'virtualAccount', 'optional'],
  ['MOBILEPAY',                'MobilePay',              'VA', 'redirect', 'virtualAccount', 'optional'],
  ['TWINT',                    'TWINT',                  'VA', 'redirect', 'virtualAccount', 'optional'],
  ['PAYBOX',                   'paybox',                 'VA', 'sync',     'virtualAccount', 'needed'],
  ['MPESA',                    'M-Pesa',                 'VA', 'sync',     'virtualAccount', 'needed'],
  ['STC_PAY',                  'stc pay',                'VA', 'sync',     'virtualAccount', 'needed'],

  // Transfers started at the shopper's bank.
  ['IDEAL',                    'iDEAL',                  'OT', 'redirect', 'bankAccount',    'optional'],
  ['SOFORTUEBERWEISUNG',       'Sofort',                 'OT', 'redirect', 'bankAccount',    'optional'],
  ['GIROPAY',                  'giropay',                'OT', 'redirect', 'bankAccount',    'optional'],
  ['EPS',                      'eps',                    'OT', 'redirect', 'bankAccount',    'optional'],
  ['PRZELEWY',                 'Przelewy24',             'OT', 'redirect', 'bankAccount',    'optional'],
  ['TRUSTLY',                  'Trustly',                'OT', 'redirect', 'bankAccount',    'optional'],
  ['TRUSTPAY_VA',              'TrustPay',               'OT', 'redirect', 'virtualAccount', 'optional'],
  ['MYBANK',                   'MyBank',                 'OT', 'redirect', 'bankAccount',    'optional'],
  ['PF_KARTE_DIRECT',          'PostFinance',            'OT', 'redirect', null,             'optional'],
  ['PAYTRAIL',                 'Paytrail',               'OT', 'redirect', null,             'optional'],
  ['ENTERCASH',                'Entercash',              'OT', 'redirect', 'bankAccount',    'optional'],
  ['INTERAC_ONLINE',           'Interac Online',         'OT', 'redirect', null,             'optional'],
  ['POLI',                     'POLi',                   'OT', 'redirect', null,             'optional'],
  ['PIX',                      'Pix',                    'OT', 'redirect', null,             'optional'],
  ['CHINAUNIONPAY',            'UnionPay Online',        'OT', 'redirect', null,             'optional'],
  ['KNET',                     'KNET',                   'OT', 'redirect', null,             'optional'],
  ['BENEFIT',                  'Benefit',                'OT', 'redirect', null,             'optional'],
  ['NAPS',                     'NAPS',                   'OT', 'redirect', null,             'optional'],
  ['OMANNET',                  'OmanNet',                'OT', 'redirect', null,             'optional'],

  // Invoice, instalments, pay later.
  ['INVOICE',                  'Invoice',                'IV', 'sync',     null,             'optional'],
  ['KLARNA_INVOICE',           'Klarna invoice',         'IV', 'sync',     null,             'optional'],
  ['KLARNA_INSTALLMENTS',      'Klarna instalments',     'IV', 'sync',     null,             'optional'],
  ['KLARNA_PAYMENTS_PAYLATER', 'Klarna Pay Later',       'IV', 'redirect', null,             'optional'],
  ['KLARNA_PAYMENTS_PAYNOW',   'Klarna Pay Now',         'IV', 'redirect', null,             'optional'],
  ['KLARNA_PAYMENTS_SLICEIT',  'Klarna Slice It',        'IV', 'redirect', null,             'optional'],
  ['RATEPAY_INVOICE',          'Ratepay invoice',        'IV', 'sync',     null,             'optional'],
  ['PAYOLUTION_INVOICE',       'Payolution invoice',     'IV', 'sync',     null,             'optional'],
  ['PAYOLUTION_INS',           'Payolution instalments', 'IV', 'sync',     'bankAccount',    'optional'],
  ['AFTERPAY',                 'AfterPay',               'IV', 'sync',     'bankAccount',    'optional'],
  ['AFTERPAY_PACIFIC',         'Afterpay',               'IV', 'redirect', null,             'optional'],
  ['AFFIRM',                   'Affirm',                 'IV', 'redirect', null,             'optional'],
  ['ONEY',                     'Oney',                   'IV', 'redirect', null,             'optional'],
  ['TABBY',                    'Tabby',                  'IV', 'redirect', null,             'optional'],
  ['TAMARA',                   'Tamara',                 'IV', 'redirect', null,             'optional'],

  // Paid before delivery, at a bank, a shop or a machine.
  ['PREPAYMENT',               'Prepayment',             'PP', 'sync',     null,             'optional'],
  ['BOLETO',                   'Boleto',                 'PP', 'sync',     null,             'optional'],
  ['SIBS_MULTIBANCO',          'Multibanco',             'PP', 'sync',     null,             'optional'],
  ['PAYSAFECARD',              'paysafecard',            'PP', 'redirect', null,             'optional'],
  ['BARPAY',                   'barzahlen',              'PP', 'redirect', null,             'optional'],
  ['DAOPAY',                   'DaoPay',                 'PP', 'redirect', null,             'optional'],
]

/**
 * Brands whose number ranges come from the card-range library, with their names there. Of two equally exact
 * ranges of the library, the one of the brand that comes first here decides.
 */
export const rangeLibraryNames: readonly (readonly [code: string, name: string])[] = [
  ['VISA',      'visa'],
  ['MASTER',    'mastercard'],
  ['AMEX',      'american-express'],
  ['DINERS',    'diners-club'],
  ['DISCOVER',  'discover'],
  ['TROY',      'troy'],
  ['JCB',       'jcb'],
  ['UNIONPAY',  'unionpay'],
  ['NARANJA',   'naranja'],
  ['VERVE',     'verve'],
  ['MAESTRO',   'maestro'],
  ['ELO',       'elo'],
  ['MIR',       'mir'],
  ['HIPER',     'hiper'],
  ['HIPERCARD', 'hipercard'],
]

export const brands: readonly Brand[] = [
  ...cards.map(([code, title, method, numberLengths, cvvLengths, more]): Brand => ({
    code, title, method, flow: 'sync', account: 'card', accountNeeded: true,
    aliases: more?.aliases ?? [], hosts: more?.hosts ?? [], ranges: more?.ranges ?? [],
    numberLengths, cvvLengths, cvvNeeded: more?.cvvNeeded ?? false,
  })),
  ...others.map(([code, title, method, flow, account, need]): Brand => ({
    code, title, method, flow, account, accountNeeded: need === 'needed',
    aliases: [], hosts: [], ranges: [], numberLengths: [], cvvLengths: [], cvvNeeded: false,
  })),
]

const byName: ReadonlyMap<string, Brand> = new Map(
  brands.flatMap((brand) => [brand.code, ...brand.aliases].map((name) => [name, brand] as const)),
)

/** The brand of a code or of an older spelling; `brand.code` is the one to store and show. */
export function brandOf(name: string): Brand | undefined {
  return byName.get(name)
}
