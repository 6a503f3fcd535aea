// Made from the field tables by `npm run generate`. Not to be edited.
/** ISO 4217 code of a currency. */
export type CurrencyCode =
  | 'AED'
  | 'AFN'
  | 'ALL'
  | 'AMD'
  | 'AOA'
  | 'ARS'
  | 'AUD'
  | 'AWG'
  | 'AZN'
  | 'BAM'
  | 'BBD'
  | 'BDT'
  | 'BHD'
  | 'BIF'
  | 'BMD'
  | 'BND'
  | 'BOB'
  | 'BOV'
  | 'BRL'
  | 'BSD'
  | 'BTN'
  | 'BWP'
  | 'BYN'
  | 'BZD'
  | 'CAD'
  | 'CDF'
  | 'CHE'
  | 'CHF'
  | 'CHW'
  | 'CLF'
  | 'CLP'
  | 'CNY'
  | 'COP'
  | 'COU'
  | 'CRC'
  | 'CUP'
  | 'CVE'
  | 'CZK'
  | 'DJF'
  | 'DKK'
  | 'DOP'
  | 'DZD'
  | 'EGP'
  | 'ERN'
  | 'ETB'
  | 'EUR'
  | 'FJD'
  | 'FKP'
  | 'GBP'
  | 'GEL'
  | 'GHS'
  | 'GIP'
  | 'GMD'
  | 'GNF'
  | 'GTQ'
  | 'GYD'
  | 'HKD'
  | 'HNL'
  | 'HTG'
  | 'HUF'
  | 'IDR'
  | 'ILS'
  | 'INR'
  | 'IQD'
  | 'IRR'
  | 'ISK'
  | 'JMD'
  | 'JOD'
  | 'JPY'
  | 'KES'
  | 'KGS'
  | 'KHR'
  | 'KMF'
  | 'KPW'
  | 'KRW'
  | 'KWD'
  | 'KYD'
  | 'KZT'
  | 'LAK'
  | 'LBP'
  | 'LKR'
  | 'LRD'
  | 'LSL'
  | 'LYD'
  | 'MAD'
  | 'MDL'
  | 'MGA'
  | 'MKD'
  | 'MMK'
  | 'MNT'
  | 'MOP'
  | 'MRU'
  | 'MUR'
  | 'MVR'
  | 'MWK'
  | 'MXN'
  | 'MXV'
  | 'MYR'
  | 'MZN'
  | 'NAD'
  | 'NGN'
  | 'NIO'
  | 'NOK'
  | 'NPR'
  | 'NZD'
  | 'OMR'
  | 'PAB'
  | 'PEN'
  | 'PGK'
  | 'PHP'
  | 'PKR'
  | 'PLN'
  | 'PYG'
  | 'QAR'
  | 'RON'
  | 'RSD'
  | 'RUB'
  | 'RWF'
  | 'SAR'
  | 'SBD'
  | 'SCR'
  | 'SDG'
  | 'SEK'
  | 'SGD'
  | 'SHP'
  | 'SLE'
  | 'SOS'
  | 'SRD'
  | 'SSP'
  | 'STN'
  | 'SVC'
  | 'SYP'
  | 'SZL'
  | 'THB'
  | 'TJS'
  | 'TMT'
  | 'TND'
  | 'TOP'
  | 'TRY'
  | 'TTD'
  | 'TWD'
  | 'TZS'
  | 'UAH'
  | 'UGX'
  | 'USD'
  | 'USN'
  | 'UYI'
  | 'UYU'
  | 'UYW'
  | 'UZS'
  | 'VED'
  | 'VES'
  | 'VND'
  | 'VUV'
  | 'WST'
  | 'XAD'
  | 'XAF'
  | 'XCD'
  | 'XCG'
  | 'XOF'
  | 'XPF'
  | 'YER'
  | 'ZAR'
  | 'ZMW'
  | 'ZWG'
  | 'ANG'
  | 'BGN'
  | 'CUC'
  | 'HRK'
  | 'SLL'
  | 'ZWL'

/** Code of a payment type. */
export type PaymentTypeCode =
  | 'PA'
  | 'DB'
  | 'CD'
  | 'PA.CP'
  | '3D'
  | 'CP'
  | 'RV'
  | 'RF'
  | 'RB'
  | 'RC'
  | 'CB'
  | 'CR'
  | 'RG'
  | 'RR'
  | 'DR'
  | 'TE'
  | 'SD'
  | 'RS'
  | 'DS'

/** Brand of a payment method, or an older name of it. */
export type BrandCode =
  | 'VISA'
  | 'MASTER'
  | 'AMEX'
  | 'AMERICAN_EXPRESS'
  | 'DINERS'
  | 'DINERS_CLUB'
  | 'DISCOVER'
  | 'JCB'
  | 'UNIONPAY'
  | 'MAESTRO'
  | 'UATP'
  | 'VISADEBIT'
  | 'VISAELECTRON'
  | 'VPAY'
  | 'MASTERDEBIT'
  | 'AIRPLUS'
  | 'MADA'
  | 'CARTEBANCAIRE'
  | 'CARTEBLEUE'
  | 'BCMC'
  | 'DANKORT'
  | 'POSTEPAY'
  | 'PAGOBANCOMAT'
  | 'SERVIRED'
  | 'EFTPOS_AU'
  | 'ELO'
  | 'HIPERCARD'
  | 'HIPER'
  | 'NARANJA'
  | 'TARJETANARANJA'
  | 'ARGENCARD'
  | 'CABAL'
  | 'CABALDEBIT'
  | 'CENCOSUD'
  | 'NATIVA'
  | 'TARJETASHOPPING'
  | 'MERCADOLIVRE'
  | 'CARNET'
  | 'AXESS'
  | 'BONUS'
  | 'CARDFINANS'
  | 'MAXIMUM'
  | 'WORLD'
  | 'ASYACARD'
  | 'TROY'
  | 'MIR'
  | 'VERVE'
  | 'MEEZA'
  | 'RUPAY'
  | 'BELKART'
  | 'PROSTIR'
  | 'HUMO'
  | 'UZCARD'
  | 'NAPAS'
  | 'APPLEPAY'
  | 'GOOGLEPAY'
  | 'SAMSUNGPAY'
  | 'DIRECTDEBIT_SEPA'
  | 'DIRECTDEBIT_ACH'
  | 'DIRECTDEBIT_BACS'
  | 'DIRECTDEBIT_BECS'
  | 'RATEPAY_ELV'
  | 'PAYOLUTION_ELV'
  | 'PAYPAL'
  | 'PAYPAL_CONTINUE'
  | 'PAYDIREKT'
  | 'AMAZONPAY'
  | 'ALIPAY'
  | 'ALIPAY_PLUS'
  | 'WECHAT_PAY'
  | 'TENPAY'
  | 'KAKAOPAY'
  | 'PAYPAY'
  | 'GRABPAY'
  | 'GCASH'
  | 'SKRILL'
  | 'MONEYBOOKERS'
  | 'NETELLER'
  | 'QIWI'
  | 'YANDEX'
  | 'WEBMONEY'
  | 'CASHU'
  | 'ONECARD'
  | 'MBWAY'
  | 'BLIK'
  | 'BIZUM'
  | 'SWISH'
  | 'VIPPS'
  | 'MOBILEPAY'
  | 'TWINT'
  | 'PAYBOX'
  | 'MPESA'
  | 'STC_PAY'
  | 'IDEAL'
  | 'SOFORTUEBERWEISUNG'
  | 'GIROPAY'
  | 'EPS'
  | 'PRZELEWY'
  | 'TRUSTLY'
  | 'TRUSTPAY_VA'
  | 'MYBANK'
  | 'PF_KARTE_DIRECT'
  | 'PAYTRAIL'
  | 'ENTERCASH'
  | 'INTERAC_ONLINE'
  | 'POLI'
  | 'PIX'
  | 'CHINAUNIONPAY'
  | 'KNET'
  | 'BENEFIT'
  | 'NAPS'
  | 'OMANNET'
  | 'INVOICE'
  | 'KLARNA_INVOICE'
  | 'KLARNA_INSTALLMENTS'
  | 'KLARNA_PAYMENTS_PAYLATER'
  | 'KLARNA_PAYMENTS_PAYNOW'
  | 'KLARNA_PAYMENTS_SLICEIT'
  | 'RATEPAY_INVOICE'
  | 'PAYOLUTION_INVOICE'
  | 'PAYOLUTION_INS'
  | 'AFTERPAY'
  | 'AFTERPAY_PACIFIC'
  | 'AFFIRM'
  | 'ONEY'
  | 'TABBY'
  | 'TAMARA'
  | 'PREPAYMENT'
  | 'BOLETO'
  | 'SIBS_MULTIBANCO'
  | 'PAYSAFECARD'
  | 'BARPAY'
  | 'DAOPAY'

export interface PaymentsCreateRequest {
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType: 'PA' | 'DB' | 'CD' | 'PA.CP'
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL announces the last follow-up of this type. */
  sequence?: string
  /** Maximum number of partial captures. */
  numberOfCaptures?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Links an authorisation with its increments, reversals and captures. */
  lifecycleId?: string
  /** Id of an earlier authorisation when the URL does not name it: for increments and reauthorisations. */
  referenceUuid?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  card?: Card
  applePay?: ApplePay
  googlePay?: GooglePay
  samsungPay?: SamsungPay
  virtualAccount?: VirtualAccount
  bankAccount?: BankAccount
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  tokenAccount?: TokenAccount
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: Sender
  recipient?: Recipient
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  /** Stores the instrument; the answer has registrationId. Usable once the payment is approved. */
  createRegistration?: boolean | 'true' | 'false'
  /** Fills an empty holder of the registration with the holder of this request, for this payment only. */
  overrideHolder?: boolean | 'true' | 'false'
  recurringMigration?: RecurringMigration
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecure
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  giftCard?: GiftCard
  /** Id of the test clock of the new resource. */
  testClock?: string
}

export interface Card {
  /** Name as printed on the card. */
  holder?: string
  /** Primary account number, digits only. */
  number: string
  /** Expiry month, two digits. */
  expiryMonth: string
  /** Expiry year, four digits. */
  expiryYear: string
  /** Security code. Used once, never stored. */
  cvv?: string
  /** Whether the number is a card number or a device number. */
  numberType?: ("PAN" | "DPAN")
}

export interface ApplePay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
  /** Source of the token, for one decrypted by the merchant. */
  source?: ("web" | "app")
  /** Card network reported by the wallet. */
  cardNetwork?: string
  /** Kind of card reported by the wallet: debit, credit, prepaid, store. */
  cardType?: string
}

export interface GooglePay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
  /** Source of the token, for one decrypted by the merchant. */
  source?: ("web" | "app")
}

export interface SamsungPay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
  /** Source of the token, for one decrypted by the merchant. */
  source?: ("web" | "app")
}

export interface VirtualAccount {
  /** The shopper's account there, often an e-mail address. */
  accountId: string
}

export interface BankAccount {
  /** Name of the account's owner. */
  holder?: string
  /** Name of the bank. */
  bankName?: string
  /** Domestic account number. */
  number?: string
  /** International account number. */
  iban?: string
  /** Domestic code of the bank. */
  bankCode?: string
  /** International code of the bank. */
  bic?: string
  /** Country of the account. */
  country?: string
  mandate?: BankAccountMandate
}

export interface BankAccountMandate {
  /** Direct-debit mandate. Not used for risk checks. */
  id?: string
  /** Date of the mandate's signature. Not used for risk checks. */
  dateOfSignature?: string
}

export interface TokenAccount {
  /** Token in the form of a card number. */
  number: string
  /** Issuer of the token: a card network or another party. */
  type: ("EXTERNAL" | "NETWORK")
  /** Expiry month of the token, two digits. */
  expiryMonth?: string
  /** Expiry year of the token, four digits. */
  expiryYear?: string
  /** Base64 proof for the present use of the token. Used once. */
  cryptogram?: string
  /** Dynamic security code of the token. Used once. */
  dtvc?: string
}

export interface Forex {
  /** Amount in the foreign currency. */
  amount?: string
  /** The foreign currency. */
  currency?: CurrencyCode
}

export interface Customer {
  /** The merchant's own number of the shopper. */
  merchantCustomerId?: string
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Male or female. */
  sex?: ("M" | "F")
  /** Day of birth. */
  birthDate?: string
  /** Phone number; some risk checks need it. */
  phone?: string
  /** Mobile number; some risk checks need it. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and direct-debit mandates. */
  email?: string
  /** Company that the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types require it. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Payer reference shown to the payee. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper. */
  status?: ("NEW" | "EXISTING")
  browserFingerprint?: CustomerBrowserFingerprint
  browser?: CustomerBrowser
  app?: CustomerApp
}

export interface CustomerBrowserFingerprint {
  /** Name of a device fingerprint session. */
  id?: string
  /** Device fingerprint. */
  value?: string
}

export interface CustomerBrowser {
  /** Accept header of the shopper's browser. */
  acceptHeader?: string
  /** Language of the browser, as a BCP 47 tag. */
  language?: string
  /** Height of the screen in pixels. */
  screenHeight?: string
  /** Width of the screen in pixels. */
  screenWidth?: string
  /** Minutes from local time to UTC; positive west of it. */
  timezone?: string
  /** User-Agent header of the browser. */
  userAgent?: string
  /** Whether the browser can run Java. */
  javaEnabled?: boolean | 'true' | 'false'
  /** Colour depth in bits per pixel. */
  screenColorDepth?: string
  /** Chosen size of the challenge window. */
  challengeWindow?: string
  /** Device id given to the browser. */
  deviceId?: string
}

export interface CustomerApp {
  /** Device id given to the app. */
  deviceId?: string
}

export interface Shipping {
  customer?: ShippingCustomer
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Delivery method of the goods. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery, included in the amount. */
  cost?: string
  /** Delivery instructions. */
  comment?: string
  /** Expected date of the delivery. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's tracking number. */
  trackingNumber?: string
  /** The carrier's tracking number of a return. */
  returnTrackingNumber?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse of the goods. */
  warehouse?: string
  /** Delivery address for a payment method to use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the recipient. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the recipient. */
  phone?: string
  /** Mobile number of the recipient. */
  mobile?: string
  /** Work phone number of the recipient. */
  workPhone?: string
  /** E-mail address of the recipient. */
  email?: string
  /** Delivery to the shopper, or a return. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface ShippingCustomer {
  /** The merchant's own number of the shopper. */
  merchantCustomerId?: string
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Male or female. */
  sex?: ("M" | "F")
  /** Day of birth. */
  birthDate?: string
  /** Phone number; some risk checks need it. */
  phone?: string
  /** Mobile number; some risk checks need it. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and direct-debit mandates. */
  email?: string
  /** Company that the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types require it. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Payer reference shown to the payee. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper. */
  status?: ("NEW" | "EXISTING")
  browser?: ShippingCustomerBrowser
}

export interface ShippingCustomerBrowser {
  /** Accept header of the shopper's browser. */
  acceptHeader?: string
  /** Language of the browser, as a BCP 47 tag. */
  language?: string
  /** Height of the screen in pixels. */
  screenHeight?: string
  /** Width of the screen in pixels. */
  screenWidth?: string
  /** Minutes from local time to UTC; positive west of it. */
  timezone?: string
  /** User-Agent header of the browser. */
  userAgent?: string
  /** Whether the browser can run Java. */
  javaEnabled?: boolean | 'true' | 'false'
  /** Colour depth in bits per pixel. */
  screenColorDepth?: string
  /** Chosen size of the challenge window. */
  challengeWindow?: string
}

export interface Billing {
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and the shopper accepted its normalized form. */
  validationStatus?: string
}

export interface Merchant {
  billing?: MerchantBilling
  shipping?: MerchantShipping
  /** Name on the statement, often business name, asterisk, product. Takes precedence over descriptor. */
  name?: string
  /** Merchant category code. */
  mcc?: string
  /** Street. */
  street?: string
  /** Second line of the statement: the town, or a phone number, e-mail address or URL of an online shop. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three digits. */
  countryCode?: string
  /** Country, two letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Latitude and longitude of the shop. */
  geographicCoordinates?: string
  /** Town of the service. */
  serviceLocationCity?: string
  /** State of the service. */
  serviceLocationState?: string
  /** Country of the service. */
  serviceLocationCountryCode?: string
  /** Postal code of the service. */
  serviceLocationPostCode?: string
  /** Latitude and longitude of the service. */
  serviceLocationGeographicCoordinates?: string
  /** Further contact of the merchant. */
  additionalContact?: string
  /** Phone number. */
  phone?: string
  /** Phone number for shoppers. */
  customerContactPhone?: string
  /** Identifier of the web site. */
  websiteId?: string
  /** Address of the web site. */
  url?: string
  /** Code of the referring partner. */
  partnerIdCode?: string
  /** Independent sales organisation. */
  isoId?: string
  /** Payment facilitator, its id. */
  payFacId?: string
  /** Payment facilitator, its name. */
  payFacName?: string
  /** Marketplace. */
  marketplaceId?: string
  /** Facilitator's merchant, for one card network. */
  submerchantId?: string
  /** Tax number. */
  taxId?: string
  data?: MerchantData
  /** Marks a marketplace sale by a foreign retailer. */
  foreignRetailIndicator?: string
  /** Registered name. */
  legalName?: string
  app?: MerchantApp
}

export interface MerchantBilling {
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and the shopper accepted its normalized form. */
  validationStatus?: string
  /** Given name of the contact. */
  givenName?: string
  /** Family name of the contact. */
  surname?: string
  /** Middle name of the contact. */
  middleName?: string
  /** Company at that place. */
  companyName?: string
  /** Phone number there. */
  phone?: string
  /** Second phone number there. */
  workPhone?: string
  /** Mobile number of the contact. */
  mobile?: string
  /** E-mail address of the contact. */
  email?: string
}

export interface MerchantShipping {
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Delivery method of the goods. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery, included in the amount. */
  cost?: string
  /** Delivery instructions. */
  comment?: string
  /** Expected date of the delivery. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's tracking number. */
  trackingNumber?: string
  /** The carrier's tracking number of a return. */
  returnTrackingNumber?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse of the goods. */
  warehouse?: string
  /** Delivery address for a payment method to use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the recipient. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the recipient. */
  phone?: string
  /** Mobile number of the recipient. */
  mobile?: string
  /** Work phone number of the recipient. */
  workPhone?: string
  /** E-mail address of the recipient. */
  email?: string
  /** Delivery to the shopper, or a return. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface MerchantData {
  /** Further data of the merchant, by name. */
  [k: string]: string | undefined
}

export interface MerchantApp {
  /** Custom URL scheme for the return to the merchant's app. */
  schemeUrl?: string
}

export interface Corporate {
  /** Name of the company. */
  name?: string
  /** Business of the company. */
  description?: string
  /** Street. */
  street?: string
  /** Address in one line. */
  address?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Postal code. */
  postCode?: string
  /** Suite or floor. */
  suite?: string
  /** Post office box. */
  postboxNumber?: string
  /** Whether the company is the buyer. */
  purchase?: ("Y" | "N")
  /** Phone number. */
  phone?: string
  /** Fax number. */
  fax?: string
  /** VAT number. */
  vatId?: string
}

export interface Sender {
  /** Full name. */
  name?: string
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Day of birth. */
  birthDate?: string
  /** Account of the sender. */
  accountNumber?: string
  /** Street. */
  street?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Kind of number in accountNumber. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "IBAN_AND_BIC" | "CARD_ACCOUNT")
  /** 01 credit, 02 debit, 03 prepaid, 04 cash, 05 other debit access, 06 other credit, 07 deposit, 08 mobile money, 09 other. */
  sourceOfFunds?: ("01" | "02" | "03" | "04" | "05" | "06" | "07" | "08" | "09")
}

export interface Recipient {
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Day of birth. */
  birthDate?: string
  /** Phone number. */
  phone?: string
  /** Account of the recipient. */
  accountNumber?: string
  /** Street. */
  street?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Kind of number in accountNumber. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "PHONE_NUMBER" | "BAN_AND_BIC" | "WALLET_ID" | "SOCIAL_NETWORK_ID")
}

export interface Cart {
  items?: CartItem[]
  payments?: CartPayment[]
}

export interface CartItem {
  /** Name of the article. */
  name?: string
  /** The merchant's own article number. */
  merchantItemId?: string
  /** Description of the article. */
  description?: string
  /** Quantity, in quantityUnit if sent. */
  quantity?: string
  /** Kind of article. */
  type?: ("PHYSICAL" | "DIGITAL" | "MIXED" | "ANONYMOUS_DONATION" | "AUTHORITIES_PAYMENT")
  /** Currency of the prices. */
  currency?: CurrencyCode
  /** Price of one piece after discount, with tax. */
  price?: string
  /** Price of the whole line. */
  totalAmount?: string
  /** Tax in the price of one piece. */
  taxAmount?: string
  /** Tax in the price of the line. */
  totalTaxAmount?: string
  /** Delivery cost of the line. */
  shipping?: string
  /** Discount on the article. */
  discount?: string
  /** Tax rate in percent, 0 to 100. */
  tax?: string
  /** Tax category: lower, standard, exempt or zero rate. */
  taxCategory?: ("AA" | "S" | "E" | "Z")
  /** Stock keeping unit. */
  sku?: string
  /** Message for a gift. */
  giftMessage?: string
  /** Delivery method of the article. */
  shippingMethod?: string
  /** Instructions for the carrier. */
  shippingInstructions?: string
  /** The carrier's tracking number. */
  shippingTrackingNumber?: string
  /** Seller on a marketplace, as in marketPlace.sellers[n].id. */
  sellerId?: string
  /** Price before tax and discount. */
  originalPrice?: string
  /** UNSPSC code of the goods, for level-3 card data. */
  commodityCode?: string
  /** Name of that UNSPSC class. */
  commodityDescription?: string
  /** Unit of the quantity. */
  quantityUnit?: ("M" | "CM" | "KG" | "G" | "COUNT")
  /** Page of the article. */
  productUrl?: string
  /** Picture of the article. */
  imageUrl?: string
  /** Discount on the line. */
  totalDiscountAmount?: string
  /** Code of the product. */
  productCode?: string
  /** Maker's number of the part. */
  partNumber?: string
  /** VAT reference of the line. */
  vatReferenceNumber?: string
  /** Number of the line. */
  itemNumber?: string
  /** Delivery date of the article. */
  deliveryDate?: string
  recipient?: CartItemRecipient
}

export interface CartItemRecipient {
  /** Form of address of the recipient. */
  salutation?: string
  /** Given name of the recipient. */
  firstName?: string
  /** Middle name of the recipient. */
  middleName?: string
  /** Family name of the recipient. */
  lastName?: string
  /** Apartment. */
  apartment?: string
  /** Street. */
  street?: string
  /** Address in one line. */
  address?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country, two letters or three digits. */
  country?: string
  /** Phone number of the recipient. */
  phone?: string
  /** E-mail address of the recipient. */
  email?: string
}

export interface CartPayment {
  /** Name of the payment. */
  name?: string
  /** Gift card or promotion. */
  type?: ("GIFTCARD" | "PROMOTION")
  /** Amount of the payment. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Status of the payment. */
  status?: ("pending" | "authorized" | "captured")
  /** Brand of the payment. */
  brand?: string
  /** Whether it is the main payment. */
  primary?: boolean | 'true' | 'false'
}

export interface MarketPlace {
  sellers?: MarketPlaceSeller[]
}

export interface MarketPlaceSeller {
  /** Seller. */
  id?: string
  /** The seller's part of the amount. */
  amount?: string
}

export interface Airline {
  /** Taxes of the whole booking. */
  totalTaxAmount?: string
  /** Fees of the whole booking. */
  totalFeesAmount?: string
  /** Fares of the whole booking. */
  totalFareAmount?: string
  /** Date of issue of the tickets. */
  ticketIssueDate?: string
  /** Place of issue of the tickets. */
  ticketIssueAddress?: string
  /** Whether the booking was made by a third party. */
  thirdPartyBooking?: string
  /** Kind of booking. */
  bookingtype?: string
  /** Delivery of the tickets. */
  ticketDeliveryMethod?: string
  /** Booking reference. */
  bookingRefNum?: string
  /** Travel agency. */
  agentName?: string
  /** Code of the agency. */
  agentCode?: string
  passengers?: AirlinePassenger[]
}

export interface AirlinePassenger {
  /** Country of residence of the passenger. */
  residenceCountry?: string
  /** Kind of passenger, such as adult or child. */
  type?: string
  /** Name of the passenger. */
  name?: string
  /** Whether the ticket is restricted. */
  ticketRestricted?: string
  /** Number of the ticket. */
  ticketNumber?: string
  /** Status of the passenger with the airline. */
  status?: string
  /** Phone number. */
  phone?: string
  /** Number in the frequent flyer programme. */
  frequentFlyerNumber?: string
  /** E-mail address. */
  email?: string
  /** Day of birth. */
  dob?: string
  /** Check digit of the ticket. */
  checkDigit?: string
  legs?: AirlinePassengerLeg[]
}

export interface AirlinePassengerLeg {
  /** Day of departure. */
  departureDate?: string
  /** Day of arrival. */
  arrivalDate?: string
  /** Days from the booking to the departure. */
  timeToDeparture?: string
  /** Ticket of this leg. */
  ticketNumber?: string
  /** Taxes of this leg. */
  taxAmount?: string
  /** Whether a stopover is allowed. */
  stopOverAllowed?: string
  /** Restrictions of the fare. */
  restrictions?: string
  /** Flight. */
  flightNumber?: string
  /** Fees of this leg. */
  feesAmount?: string
  /** Fare basis code. */
  fareBasis?: string
  /** Fare of this leg. */
  fareAmount?: string
  /** Ticket replaced by this one. */
  exchangeTicketNum?: string
  /** Tax on the departure. */
  departureTaxAmount?: string
  /** Country of departure. */
  departureCountry?: string
  /** Airport of departure. */
  departureAirport?: string
  /** Airline. */
  airlineName?: string
  /** Code of the airline. */
  airlineCode?: string
  /** Time of departure. */
  departureTime?: string
  /** Country of arrival. */
  arrivalCountry?: string
  /** Airport of arrival. */
  arrivalAirport?: string
  /** Time of arrival. */
  arrivalTime?: string
  /** Coupon of the ticket. */
  couponNumber?: string
  /** Code of the operating carrier. */
  classOfService?: string
  /** Code of the carrier that flies. */
  carrierCode?: string
}

export interface RecurringMigration {
  /**
   * @deprecated
   * Payment type of the initial transaction.
   */
  paymentType: ("DB" | "CD" | "PA")
  /**
   * @deprecated
   * Amount of the initial transaction.
   */
  amount?: string
  /**
   * @deprecated
   * Date of the initial transaction.
   */
  requestTimestamp?: string
  /**
   * @deprecated
   * First of the acquirer's references to it.
   */
  connectorTxId1?: string
  /**
   * @deprecated
   * Second of the acquirer's references.
   */
  connectorTxId2?: string
  /**
   * @deprecated
   * Third of the acquirer's references.
   */
  connectorTxId3?: string
}

export interface StandingInstruction {
  /** Kind of agreement. */
  type?: ("UNSCHEDULED" | "INSTALLMENT" | "RECURRING")
  /** Kind of merchant-initiated recurring payments. */
  recurringType?: ("STANDING_ORDER" | "SUBSCRIPTION")
  /** First payment of the agreement, or a later one. */
  mode?: ("INITIAL" | "REPEATED")
  /** Initiator: cardholder or merchant. */
  source?: ("CIT" | "MIT")
  /** Scheme's reference to the first payment. Added to later payments by the gateway; a value of the merchant takes precedence. */
  initialTransactionId?: string
  /** Reason of the merchant's further charge. */
  industryPractice?: ("INCREMENTAL_AUTH" | "RESUBMISSION" | "REAUTHORIZATION" | "DELAYED_CHARGES" | "NO_SHOW")
  /** Last day of the agreement, for 3-D Secure. */
  expiry?: string
  /** Minimum number of days between two payments. */
  frequency?: string
  /** Maximum number of instalments. 3-D Secure needs it for type INSTALLMENT. */
  numberOfInstallments?: string
  /** Name of the agreement at one card network, which gradually replaces initialTransactionId. */
  agreementId?: string
}

export interface ThreeDSecure {
  /** Amount to authenticate, if it differs from the payment. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Encrypted device data of the mobile SDK. Starts the app-based flow. */
  deviceInfo?: string
  merchant?: ThreeDSecureMerchant
  v2?: ThreeDSecureV2
  /** Marks a merchant-initiated authentication, for one network. */
  channel?: string
  /** Authentication without a payment. */
  npa?: boolean | 'true' | 'false'
  /** Lets the issuer authenticate the shopper outside this session. */
  decoupled?: boolean | 'true' | 'false'
  /** Reason of a merchant-initiated authentication. */
  threeRIInd?: ("RECURRING" | "SPLIT_SHIPMENT" | "DELAYED_SHIPMENT")
  /** Purpose of the authentication. */
  authenticationInd?: ("PAYMENT" | "RECURRING" | "INSTALLMENT" | "ADD_CARD" | "MAINTAIN_CARD" | "EMV_ID" | "BILLING_AGREEMENT" | "SPLIT_SHIPMENT" | "_DELAYED_SHIPMENT" | "SPLIT_PAYMENT")
  /** Electronic commerce indicator. */
  eci?: string
  /** Proof of authentication (CAVV, AAV). Used once, never stored. */
  verificationId?: string
  /** Authenticated, attempted, unavailable or not authenticated. */
  authenticationStatus?: ("Y" | "A" | "U" | "N")
  /** Directory server's number of the authentication. */
  dsTransactionId?: string
  /** Issuer's number of the authentication. */
  acsTransactionId?: string
  /** Whether the issuer required a challenge. */
  challengeMandatedIndicator?: ("Y" | "N")
  /** Version of the protocol. */
  version?: string
  /** Method of authentication. */
  authType?: string
  /** Reason of the status. */
  transactionStatusReason?: string
  /** Whether the merchant wants a challenge; 04 requires one. */
  challengeIndicator?: string
  /** Exemption from strong authentication that the merchant claims. */
  exemptionFlag?: string
  schemeData?: ThreeDSecureSchemeData
}

export interface ThreeDSecureMerchant {
  /** Merchant name shown by the issuer. */
  name?: string
  /** Merchant's web site shown by the issuer. */
  url?: string
  /** Merchant's country, three letters. */
  country?: string
}

export interface ThreeDSecureV2 {
  visa?: ThreeDSecureV2Visa
  mastercard?: ThreeDSecureV2Mastercard
  amex?: ThreeDSecureV2Amex
  diners?: ThreeDSecureV2Diners
  jcb?: ThreeDSecureV2Jcb
  cartesbancaires?: ThreeDSecureV2Cartesbancaires
}

export interface ThreeDSecureV2Visa {
  /** Requestor id that visa gave the merchant. */
  requestorId?: string
  /** Requestor name that visa gave the merchant. */
  requestorName?: string
}

export interface ThreeDSecureV2Mastercard {
  /** Requestor id that mastercard gave the merchant. */
  requestorId?: string
  /** Requestor name that mastercard gave the merchant. */
  requestorName?: string
}

export interface ThreeDSecureV2Amex {
  /** Requestor id that amex gave the merchant. */
  requestorId?: string
  /** Requestor name that amex gave the merchant. */
  requestorName?: string
}

export interface ThreeDSecureV2Diners {
  /** Requestor id that diners gave the merchant. */
  requestorId?: string
  /** Requestor name that diners gave the merchant. */
  requestorName?: string
}

export interface ThreeDSecureV2Jcb {
  /** Requestor id that jcb gave the merchant. */
  requestorId?: string
  /** Requestor name that jcb gave the merchant. */
  requestorName?: string
}

export interface ThreeDSecureV2Cartesbancaires {
  /** Requestor id that cartesbancaires gave the merchant. */
  requestorId?: string
  /** Requestor name that cartesbancaires gave the merchant. */
  requestorName?: string
}

export interface ThreeDSecureSchemeData {
  /** Cartes Bancaires: number of articles. Recommended. */
  "CB-ITEMSNB"?: string
  /** Cartes Bancaires: the merchant's own risk score. Recommended. */
  "CB-SCORE_MERCHANT"?: string
  /** Cartes Bancaires: use case of the payment. */
  "CB-USECASE"?: string
}

export interface CustomParameters {
  /** Value under a free name. Names from the shopper's browser begin with SHOPPER_. */
  [k: string]: string | undefined
}

export interface Risk {
  /** Channel at the screening service; one service takes 12 characters only. */
  channelId?: string
  /** Service to use; one service takes a single character only. */
  serviceId?: string
  /** Amount to screen. 3-D Secure uses it too when it is sent. */
  amount?: string
  /** Time of the order; by default that of the request. */
  orderTimestamp?: string
  /** Brand for the screening. */
  brand?: string
  parameters?: RiskParameters
  /** Web site of the order. */
  merchantWebsite?: string
  /** Token of the account at the screening service. */
  accountToken?: string
}

export interface RiskParameters {
  /** Further input of the screening service, by name. */
  [k: string]: string | undefined
}

export interface GiftCard {
  /** Number of the gift card. */
  number?: string
  /** PIN of the gift card. Used once, never stored. */
  pin?: string
  /** Name of the gift card's owner. */
  holder?: string
  /** Text printed with the gift card. */
  message?: string
  /** Occasion of the gift. */
  type?: ("ANNIVERSARY" | "BIRTHDAY" | "CONGRATULATIONS" | "APRIL_FOOLS_DAY" | "EASTER" | "FATHERS_DAY" | "GRADUATION" | "HOLIDAY" | "SEASONS_GREETINGS" | "PASSOVER" | "KWANZAA" | "HALLOWEEN" | "MOTHERS_DAY" | "NEW_YEARS_DAY" | "BOSSES_DAY" | "ST_PATRICKS_DAY" | "SWEETEST_DAY" | "CHRISTMAS" | "BABY_SHOWER" | "THANKSGIVING" | "OTHER" | "VALENTINES_DAY" | "WEDDING" | "SECRETARYS_DAY" | "CHINESE_NEW_YEAR" | "HANUKKAH" | "CELEBRATE_FALL" | "GRANDPARENTS_DAY" | "INDEPENDENCE_DAY")
}

export interface PaymentsFollowUpRequest {
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType: 'CP' | 'RV' | 'RF' | 'RB' | 'RC' | 'CB' | 'CR' | 'PA'
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL announces the last follow-up of this type. */
  sequence?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Links an authorisation with its increments, reversals and captures. */
  lifecycleId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: Sender
  recipient?: Recipient
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecure
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Acquirer's reason of the chargeback. */
  chargebackResultCode?: string
}

export interface PaymentsGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface PaymentsStepsRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface ThreeDSecureCreateRequest {
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: '3D'
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL announces the last follow-up of this type. */
  sequence?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Links an authorisation with its increments, reversals and captures. */
  lifecycleId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  card?: Card
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: MerchantOfThreeDSecureCreate
  cart?: CartOfThreeDSecureCreate
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecure
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Id of the test clock of the new resource. */
  testClock?: string
}

export interface MerchantOfThreeDSecureCreate {
  billing?: MerchantBilling
  /** Name on the statement, often business name, asterisk, product. Takes precedence over descriptor. */
  name?: string
  /** Merchant category code. */
  mcc?: string
  /** Street. */
  street?: string
  /** Second line of the statement: the town, or a phone number, e-mail address or URL of an online shop. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three digits. */
  countryCode?: string
  /** Country, two letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Latitude and longitude of the shop. */
  geographicCoordinates?: string
  /** Town of the service. */
  serviceLocationCity?: string
  /** State of the service. */
  serviceLocationState?: string
  /** Country of the service. */
  serviceLocationCountryCode?: string
  /** Postal code of the service. */
  serviceLocationPostCode?: string
  /** Latitude and longitude of the service. */
  serviceLocationGeographicCoordinates?: string
  /** Further contact of the merchant. */
  additionalContact?: string
  /** Phone number. */
  phone?: string
  /** Phone number for shoppers. */
  customerContactPhone?: string
  /** Identifier of the web site. */
  websiteId?: string
  /** Address of the web site. */
  url?: string
  /** Code of the referring partner. */
  partnerIdCode?: string
  /** Independent sales organisation. */
  isoId?: string
  /** Payment facilitator, its id. */
  payFacId?: string
  /** Payment facilitator, its name. */
  payFacName?: string
  /** Marketplace. */
  marketplaceId?: string
  /** Facilitator's merchant, for one card network. */
  submerchantId?: string
  /** Tax number. */
  taxId?: string
  data?: MerchantData
  /** Marks a marketplace sale by a foreign retailer. */
  foreignRetailIndicator?: string
  /** Registered name. */
  legalName?: string
  app?: MerchantApp
}

export interface CartOfThreeDSecureCreate {
  items?: CartItem[]
}

export interface ThreeDSecureGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface RegistrationsCreateRequest {
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  card?: Card
  applePay?: ApplePay
  googlePay?: GooglePay
  samsungPay?: SamsungPay
  virtualAccount?: VirtualAccount
  bankAccount?: BankAccount
  tokenAccount?: TokenAccountOfRegistrationsCreate
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: Sender
  recipient?: Recipient
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  recurringMigration?: RecurringMigration
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecure
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Id of the test clock of the new resource. */
  testClock?: string
}

export interface TokenAccountOfRegistrationsCreate {
  /** Token in the form of a card number. */
  number: string
  /** Issuer of the token: a card network or another party. */
  type: ("EXTERNAL" | "NETWORK")
  /** Expiry month of the token, two digits. */
  expiryMonth?: string
  /** Expiry year of the token, four digits. */
  expiryYear?: string
}

export interface RegistrationsPayRequest {
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType: 'PA' | 'DB' | 'CD' | 'PA.CP'
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL announces the last follow-up of this type. */
  sequence?: string
  /** Maximum number of partial captures. */
  numberOfCaptures?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Links an authorisation with its increments, reversals and captures. */
  lifecycleId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  card?: CardOfRegistrationsPay
  bankAccount?: BankAccountOfRegistrationsPay
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  tokenAccount?: TokenAccountOfRegistrationsPay
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: Sender
  recipient?: Recipient
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  /** Fills an empty holder of the registration with the holder of this request, for this payment only. */
  overrideHolder?: boolean | 'true' | 'false'
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecure
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Id of the test clock of the new resource. */
  testClock?: string
}

export interface CardOfRegistrationsPay {
  /** Name as printed on the card. */
  holder?: string
  /** Security code. Used once, never stored. */
  cvv?: string
}

export interface BankAccountOfRegistrationsPay {
  /** Name of the account's owner. */
  holder?: string
  mandate?: BankAccountMandate
}

export interface TokenAccountOfRegistrationsPay {
  /** Base64 proof for the present use of the token. Used once. */
  cryptogram?: string
  /** Dynamic security code of the token. Used once. */
  dtvc?: string
}

export interface RegistrationsUpdateRequest {
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  card?: CardOfRegistrationsUpdate
  bankAccount?: BankAccountOfRegistrationsPay
  tokenAccount?: TokenAccountOfRegistrationsUpdate
  customer?: Customer
  billing?: Billing
  standingInstruction?: StandingInstruction
  customParameters?: CustomParameters
}

export interface CardOfRegistrationsUpdate {
  /** Name as printed on the card. */
  holder?: string
  /** Expiry month, two digits. */
  expiryMonth?: string
  /** Expiry year, four digits. */
  expiryYear?: string
}

export interface TokenAccountOfRegistrationsUpdate {
  /** Expiry month of the token, two digits. */
  expiryMonth?: string
  /** Expiry year of the token, four digits. */
  expiryYear?: string
}

export interface RegistrationsGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface RegistrationsExtendRequest {
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
}

export interface RegistrationsRemoveRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface RegistrationsStepsRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface CheckoutsCreateRequest {
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Requests the hash of the widget script, for the integrity attribute. Checkout creation only. */
  integrity?: boolean | 'true' | 'false'
  overridePaymentType?: OverridePaymentType
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL announces the last follow-up of this type. */
  sequence?: string
  /** Maximum number of partial captures. */
  numberOfCaptures?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Links an authorisation with its increments, reversals and captures. */
  lifecycleId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  registrations?: Registration[]
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: Sender
  recipient?: Recipient
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  /** Stores the instrument; the answer has registrationId. Usable once the payment is approved. */
  createRegistration?: boolean | 'true' | 'false'
  recurringMigration?: RecurringMigration
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecureOfCheckoutsCreate
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Id of the test clock of the new resource. */
  testClock?: string
}

export interface OverridePaymentType {
  /** Payment type for one brand; the others keep paymentType. Checkout creation only. */
  [k: string]: PaymentTypeCode | undefined
}

export interface Registration {
  /** Registrations that the widget offers to the shopper, for checkouts only. Removed ones are left out. */
  id?: string
}

export interface ThreeDSecureOfCheckoutsCreate {
  /** Amount to authenticate, if it differs from the payment. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Encrypted device data of the mobile SDK. Starts the app-based flow. */
  deviceInfo?: string
  merchant?: ThreeDSecureMerchant
  v2?: ThreeDSecureV2
  /** Marks a merchant-initiated authentication, for one network. */
  channel?: string
  /** Authentication without a payment. */
  npa?: boolean | 'true' | 'false'
  /** Lets the issuer authenticate the shopper outside this session. */
  decoupled?: boolean | 'true' | 'false'
  /** Reason of a merchant-initiated authentication. */
  threeRIInd?: ("RECURRING" | "SPLIT_SHIPMENT" | "DELAYED_SHIPMENT")
  /** Purpose of the authentication. */
  authenticationInd?: ("PAYMENT" | "RECURRING" | "INSTALLMENT" | "ADD_CARD" | "MAINTAIN_CARD" | "EMV_ID" | "BILLING_AGREEMENT" | "SPLIT_SHIPMENT" | "_DELAYED_SHIPMENT" | "SPLIT_PAYMENT")
  /** Electronic commerce indicator. */
  eci?: string
  /** Authenticated, attempted, unavailable or not authenticated. */
  authenticationStatus?: ("Y" | "A" | "U" | "N")
  /** Directory server's number of the authentication. */
  dsTransactionId?: string
  /** Issuer's number of the authentication. */
  acsTransactionId?: string
  /** Whether the issuer required a challenge. */
  challengeMandatedIndicator?: ("Y" | "N")
  /** Version of the protocol. */
  version?: string
  /** Method of authentication. */
  authType?: string
  /** Reason of the status. */
  transactionStatusReason?: string
  /** Whether the merchant wants a challenge; 04 requires one. */
  challengeIndicator?: string
  /** Exemption from strong authentication that the merchant claims. */
  exemptionFlag?: string
  schemeData?: ThreeDSecureSchemeData
}

export interface CheckoutsUpdateRequest {
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Requests the hash of the widget script, for the integrity attribute. Checkout creation only. */
  integrity?: boolean | 'true' | 'false'
  overridePaymentType?: OverridePaymentType
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL announces the last follow-up of this type. */
  sequence?: string
  /** Maximum number of partial captures. */
  numberOfCaptures?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Links an authorisation with its increments, reversals and captures. */
  lifecycleId?: string
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  registrations?: Registration[]
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: Sender
  recipient?: Recipient
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  /** Stores the instrument; the answer has registrationId. Usable once the payment is approved. */
  createRegistration?: boolean | 'true' | 'false'
  recurringMigration?: RecurringMigrationOfCheckoutsUpdate
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecureOfCheckoutsCreate
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
}

export interface RecurringMigrationOfCheckoutsUpdate {
  /**
   * @deprecated
   * Payment type of the initial transaction.
   */
  paymentType?: ("DB" | "CD" | "PA")
  /**
   * @deprecated
   * Amount of the initial transaction.
   */
  amount?: string
  /**
   * @deprecated
   * Date of the initial transaction.
   */
  requestTimestamp?: string
  /**
   * @deprecated
   * First of the acquirer's references to it.
   */
  connectorTxId1?: string
  /**
   * @deprecated
   * Second of the acquirer's references.
   */
  connectorTxId2?: string
  /**
   * @deprecated
   * Third of the acquirer's references.
   */
  connectorTxId3?: string
}

export interface CheckoutsRemoveRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface CheckoutsPaymentRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface CheckoutsRegistrationRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface CheckoutsPayRequest {
  /** New for every press of the pay button. The same nonce is the same payment. */
  nonce: string
  /** Page that the shopper goes on to. The shopperResultUrl of the checkout wins. */
  resultUrl?: string
  /** Origin of the merchant's page. */
  origin?: string
  /** Where the issuer's page opens. */
  challenge?: ("frame" | "tab")
  /** What the page showed: `shown` of its offer. Nothing is paid where the merchant has changed it since. */
  shown?: string
  /** One of the registrations of the checkout, to pay with it. */
  registrationId?: string
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  card?: CardOfCheckoutsPay
  applePay?: ApplePayOfCheckoutsPay
  googlePay?: GooglePayOfCheckoutsPay
  samsungPay?: SamsungPayOfCheckoutsPay
  bankAccount?: BankAccountOfCheckoutsPay
  /** Stores the instrument; the answer has registrationId. Usable once the payment is approved. */
  createRegistration?: boolean | 'true' | 'false'
  customer?: CustomerOfCheckoutsPay
  billing?: BillingOfCheckoutsPay
  customParameters?: CustomParametersOfCheckoutsPay
}

export interface CardOfCheckoutsPay {
  /** Primary account number, digits only. */
  number?: string
  /** Name as printed on the card. */
  holder?: string
  /** Expiry month, two digits. */
  expiryMonth?: string
  /** Expiry year, four digits. */
  expiryYear?: string
  /** Security code. Used once, never stored. */
  cvv?: string
}

export interface ApplePayOfCheckoutsPay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
}

export interface GooglePayOfCheckoutsPay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
}

export interface SamsungPayOfCheckoutsPay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
}

export interface BankAccountOfCheckoutsPay {
  /** Name of the account's owner. */
  holder?: string
  /** International account number. */
  iban?: string
  /** International code of the bank. */
  bic?: string
  /** Country of the account. */
  country?: string
}

export interface CustomerOfCheckoutsPay {
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** E-mail address, for risk checks and direct-debit mandates. */
  email?: string
  /** Phone number; some risk checks need it. */
  phone?: string
  /** Mobile number; some risk checks need it. */
  mobile?: string
  /** Company that the shopper acts for. */
  companyName?: string
  browser?: CustomerBrowserOfCheckoutsPay
}

export interface CustomerBrowserOfCheckoutsPay {
  /** Language of the browser, as a BCP 47 tag. */
  language?: string
  /** Height of the screen in pixels. */
  screenHeight?: string
  /** Width of the screen in pixels. */
  screenWidth?: string
  /** Minutes from local time to UTC; positive west of it. */
  timezone?: string
  /** User-Agent header of the browser. */
  userAgent?: string
  /** Whether the browser can run Java. */
  javaEnabled?: boolean | 'true' | 'false'
  /** Colour depth in bits per pixel. */
  screenColorDepth?: string
  /** Chosen size of the challenge window. */
  challengeWindow?: string
}

export interface BillingOfCheckoutsPay {
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
}

export interface CustomParametersOfCheckoutsPay {
  /** Value under a name that begins with SHOPPER_. */
  [k: string]: string | undefined
}

export interface CheckoutsRegisterRequest {
  /** New for every press of the pay button. The same nonce is the same payment. */
  nonce: string
  /** Page that the shopper goes on to. The shopperResultUrl of the checkout wins. */
  resultUrl?: string
  /** Origin of the merchant's page. */
  origin?: string
  /** Where the issuer's page opens. */
  challenge?: ("frame" | "tab")
  /** What the page showed: `shown` of its offer. Nothing is paid where the merchant has changed it since. */
  shown?: string
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  card?: CardOfCheckoutsPay
  applePay?: ApplePayOfCheckoutsPay
  googlePay?: GooglePayOfCheckoutsPay
  samsungPay?: SamsungPayOfCheckoutsPay
  bankAccount?: BankAccountOfCheckoutsPay
  customer?: CustomerOfCheckoutsPay
  billing?: BillingOfCheckoutsPay
  customParameters?: CustomParametersOfCheckoutsPay
}

export interface CheckoutsStateRequest {
  /** That of the press that asks. The redirect of a payment is for the press that began it. */
  nonce?: string
}

export type CheckoutsWidgetRequest = Record<string, never>

export interface CheckoutsWalletSessionRequest {
  /** The wallet whose sheet the page opens. */
  wallet?: "applePay"
  /** Origin of the merchant's page. */
  origin?: string
}

export interface SchedulesCreateRequest {
  /** Stored instrument that the schedule charges. */
  registrationId: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  job?: Job
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: SenderOfSchedulesCreate
  recipient?: RecipientOfSchedulesCreate
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  standingInstruction?: StandingInstruction
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Id of the test clock of the new resource. */
  testClock?: string
}

export interface Job {
  /** Label of the schedule, for people. */
  name?: string
  /** Years, 1970 to 2099. */
  year?: string
  /** Months, 1 to 12 or JAN to DEC. */
  month?: string
  /** Days of the month, 1 to 31; also ?, L, W. */
  dayOfMonth?: string
  /** Days of the week, 1 (Sunday) to 7 or SUN to SAT; also ?, L, #. */
  dayOfWeek?: string
  /** Hours, 0 to 23. */
  hour?: string
  /** Minutes, 0 to 59. */
  minute?: string
  /** Seconds, 0 to 59. */
  second?: string
  /** First possible run, in the schedule's time zone; or in milliseconds since 1970 UTC, as responses show it. */
  startDate?: string
  /** Last possible run, in the schedule's time zone; or in milliseconds since 1970 UTC, as responses show it. */
  endDate?: string
  /** Unit of the notice of cancellation. */
  noticeUnit?: ("YEAR" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND")
  /** Number of those units of notice before the end of a period. */
  noticeNumber?: string
  /** Whether notice counts from now or towards the end of a period. */
  noticeCallable?: ("ANYTIME" | "DURATION_END")
  /** Unit of the period. */
  durationUnit?: ("YEAR" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND")
  /** Number of those units in a period. */
  durationNumber?: string
  /** Second, minute, hour, day of month, month, day of week and an optional year in one string. Replaces those fields. */
  expression?: string
}

export interface SenderOfSchedulesCreate {
  /** Full name. */
  name?: string
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Day of birth. */
  birthDate?: string
  /** Street. */
  street?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Kind of number in accountNumber. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "IBAN_AND_BIC" | "CARD_ACCOUNT")
  /** 01 credit, 02 debit, 03 prepaid, 04 cash, 05 other debit access, 06 other credit, 07 deposit, 08 mobile money, 09 other. */
  sourceOfFunds?: ("01" | "02" | "03" | "04" | "05" | "06" | "07" | "08" | "09")
}

export interface RecipientOfSchedulesCreate {
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Day of birth. */
  birthDate?: string
  /** Phone number. */
  phone?: string
  /** Street. */
  street?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Kind of number in accountNumber. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "PHONE_NUMBER" | "BAN_AND_BIC" | "WALLET_ID" | "SOCIAL_NETWORK_ID")
}

export interface SchedulesPreviewRequest {
  /** Stored instrument that the schedule would charge. */
  registrationId?: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Stored for reports and not passed on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, if the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries require it for account funding and original credits. */
  transactionPurposeCode?: string
  /** Kind of the merchant's integration. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  job?: Job
  forex?: Forex
  customer?: Customer
  shipping?: Shipping
  billing?: Billing
  merchant?: Merchant
  corporate?: Corporate
  sender?: SenderOfSchedulesCreate
  recipient?: RecipientOfSchedulesCreate
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  standingInstruction?: StandingInstruction
  customParameters?: CustomParameters
  /** Address for the shopper's return; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Receives a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Id of the test clock of the new resource. */
  testClock?: string
}

export interface SchedulesListRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Stored instrument that the schedule charges. */
  registrationId: string
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface SchedulesGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface SchedulesExecutionsRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface SchedulesRescheduleRequest {
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  job?: Job
}

export interface SchedulesRemoveRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface QuerySearchRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Reference of the merchant. Excludes a time frame. */
  merchantTransactionId?: string
  /** Maximum number of payments in one answer. */
  limit?: string
  date?: Date
  /** Payment types to find, comma-separated. */
  paymentTypes?: string
  /** Payment methods to find, comma-separated. */
  paymentMethods?: string
  /** Includes the payments linked to those found. */
  includeLinkedTransactions?: boolean | 'true' | 'false'
  /** Short number of one payment. */
  shortId?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
  /** Number of the page; later pages by cursor. */
  pageNo?: string
}

export interface Date {
  /** Start of the time frame, UTC. */
  from?: string
  /** End of the time frame, UTC. */
  to?: string
}

export interface QueryGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Includes the payments linked to those found. */
  includeLinkedTransactions?: boolean | 'true' | 'false'
}

export interface SchedulesStepsRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface EventsListRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Types of notifications, comma-separated; all types by default. */
  types?: string
  /** Starts at this moment, UTC, or at the present. The first event by default without a cursor. */
  since?: string
  /** Longest wait in seconds for an event when there is none. */
  wait?: string
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface EventsGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface TestClocksCreateRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Label of the clock, for people. */
  name?: string
  /** Initial time, UTC; the present by default. */
  time?: string
}

export interface TestClocksListRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface TestClocksGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface TestClocksAdvanceRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Target time, UTC. */
  to?: string
  /** Length of the advance, as an ISO 8601 duration by the calendar: P1M is a month. */
  by?: string
}

export interface WebhooksCreateRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Address of the notifications. Required at creation. */
  url: string
  /** Types of notifications, comma-separated. */
  types?: string
  /** TEXT sends bare hex, JSON an object around it, NONE the unencrypted body. */
  wrapper?: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active?: boolean | 'true' | 'false'
}

export interface WebhooksListRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Whether removed endpoints are included. */
  removed?: boolean | 'true' | 'false'
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface WebhooksGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface WebhooksUpdateRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Address of the notifications. Required at creation. */
  url?: string
  /** Types of notifications, comma-separated. */
  types?: string
  /** TEXT sends bare hex, JSON an object around it, NONE the unencrypted body. */
  wrapper?: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active?: boolean | 'true' | 'false'
}

export interface WebhooksRemoveRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface WebhooksRotateRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** The signing secret, or the encryption key. The previous one stays valid for a day. */
  key?: ("SIGNING" | "ENCRYPTION")
}

export interface WebhooksTestRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface WebhooksReplayRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** A single event: its id, or the webhook-id of a notification. */
  eventId?: string
  /** Start of a range of events, UTC. */
  from?: string
  /** End of the range, UTC; the present by default. */
  until?: string
  /** DEAD: only notifications that were given up. */
  which?: ("ALL" | "DEAD")
}

export interface WebhooksDeliveriesRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Only notifications in this state; DEAD ones were given up. */
  state?: ("PENDING" | "DELIVERED" | "DEAD")
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface ReportsAggregationsRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  date: DateOfReportsAggregations
  /** Settlement currency. */
  currency: CurrencyCode
  /** Maximum number of payouts in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface DateOfReportsAggregations {
  /** First day. */
  from: string
  /** Last day. */
  to: string
}

export interface ReportsAggregationRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Sort order of the lines of one settlement. */
  sortValue?: "SettlementTxDate"
  /** Ascending or descending. */
  sortOrder?: ("ASC" | "DESC" | "asc" | "desc")
}

export interface ReportsRecordsRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Number of the page, of 100 records each. */
  pageNo?: string
  /** Only records of this type. */
  reconciliationType?: ("SETTLED" | "CHARGEBACK" | "CHARGEBACK REVERSAL" | "FEE")
}

export interface ReportsFilesRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface ReportsFileRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface ReportDestinationsCreateRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Server and folder: sftp://host:port/folder, or ftps:// for FTP over TLS. A path that begins with /~/ is below the folder of the login. Required at creation. */
  folderUrl: string
  login: Login
  /** SHA256 fingerprints of the server's host keys, comma-separated. SFTP needs one. */
  hostKey?: string
  /** Certificates of the only authorities that may vouch for the server, in PEM format. FTPS only. Default: the public authorities. */
  certificate?: string
  /** Whether text that a spreadsheet would run as a formula stays as it is. */
  raw?: boolean | 'true' | 'false'
  /** Whether files are delivered. */
  active?: boolean | 'true' | 'false'
}

export interface Login {
  /** Name of the login. Required at creation. */
  user: string
  /** Password of the login. */
  password?: string
  /** Private key of the login in OpenSSH format, or RSA or ECDSA in PEM, without a passphrase; RSA of 2048 to 8192 bits. SFTP only. */
  privateKey?: string
}

export interface ReportDestinationsListRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Whether removed ones are included. */
  removed?: boolean | 'true' | 'false'
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface ReportDestinationsGetRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface ReportDestinationsUpdateRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Server and folder: sftp://host:port/folder, or ftps:// for FTP over TLS. A path that begins with /~/ is below the folder of the login. Required at creation. */
  folderUrl?: string
  login?: LoginOfReportDestinationsUpdate
  /** SHA256 fingerprints of the server's host keys, comma-separated. SFTP needs one. */
  hostKey?: string
  /** Certificates of the only authorities that may vouch for the server, in PEM format. FTPS only. Default: the public authorities. */
  certificate?: string
  /** Whether text that a spreadsheet would run as a formula stays as it is. */
  raw?: boolean | 'true' | 'false'
  /** Whether files are delivered. */
  active?: boolean | 'true' | 'false'
}

export interface LoginOfReportDestinationsUpdate {
  /** Name of the login. Required at creation. */
  user?: string
  /** Password of the login. */
  password?: string
  /** Private key of the login in OpenSSH format, or RSA or ECDSA in PEM, without a passphrase; RSA of 2048 to 8192 bits. SFTP only. */
  privateKey?: string
}

export interface ReportDestinationsRemoveRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface ReportDestinationsTestRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface ReportDestinationsReplayRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** A single report file. */
  fileId?: string
  /** The file of this number and all later ones. */
  fromNo?: string
  /** DEAD: only files that were given up. */
  which?: ("ALL" | "DEAD")
}

export interface ReportDestinationsDeliveriesRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Only files in this state; DEAD ones were given up. */
  state?: ("PENDING" | "DELIVERED" | "DEAD")
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface SftpKeysCreateRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Public key as in authorized_keys: ssh-ed25519, ecdsa-sha2-nistp256, -384, -521, or ssh-rsa of 2048 to 8192 bits. */
  publicKey: string
  /** Name for people. */
  name?: string
}

export interface SftpKeysListRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Whether removed ones are included. */
  removed?: boolean | 'true' | 'false'
  /** Maximum number of entries in one answer. */
  limit?: string
  /** Continues at nextCursor of the previous answer. */
  cursor?: string
}

export interface SftpKeysRemoveRequest {
  /** Channel of the request, or its merchant when payments are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export type ResultCodesListRequest = Record<string, never>

export type ConnectorsEventRequest = Record<string, never>

export type ConnectorsEventByGetRequest = Record<string, never>

export type ReturnsGetRequest = Record<string, never>

export type ReturnsPostRequest = Record<string, never>

export type WidgetScriptRequest = Record<string, never>

export type WidgetAssetRequest = Record<string, never>

export type WidgetChallengeRequest = Record<string, never>

export type WidgetFrameRequest = Record<string, never>

export type CheckoutsPageRequest = Record<string, never>

export type CheckoutsPayByPageRequest = Record<string, never>

export type PagesGetRequest = Record<string, never>

export type PagesPostRequest = Record<string, never>

export type HealthLiveRequest = Record<string, never>

export type HealthReadyRequest = Record<string, never>

export type OpenapiGetRequest = Record<string, never>

export type ReferenceGetRequest = Record<string, never>

export interface PaymentsCreateAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface SettlementAnswer {
  /** Last day on which the clearing institute settled the payment, in its time zone. */
  date?: string
  /** Settled part of the payment, in its currency. */
  amount?: string
}

export interface ResultAnswer {
  /** Result code. */
  code: string
  /** Description of the code. */
  description?: string
  /** Address check: A address, Z postal code, F both match, N neither, U unknown. */
  avsResponse?: ("A" | "Z" | "N" | "U" | "F")
  /** Acquirer's answer about the security code. */
  cvvResponse?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface ResultParameterErrorAnswer {
  /** Name of the wrong field. */
  name?: string
  /** Value as sent; only for public fields. */
  value?: string
  /** Description of the allowed values. */
  message?: string
}

export interface ResultDetailsAnswer {
  /** The acquirer's own code. */
  AcquirerResponse?: string
  /** Advice of the scheme after a decline, if the connector has it. */
  MerchantAdviceCode?: string
  /** The acquirer's own texts, by name. */
  [k: string]: string | undefined
}

export interface CardAnswer {
  /** First six digits of the number. */
  bin?: string
  /** Last four digits of the number. */
  last4Digits?: string
  /** Name on the card, as sent. */
  holder?: string
  /** Expiry month, as sent. */
  expiryMonth?: string
  /** Expiry year, as sent. */
  expiryYear?: string
  issuer?: CardIssuerAnswer
  /** Kind of card, such as credit or debit. */
  type?: string
  /** Product level of the card. */
  level?: string
  /** Whether the card's interchange is regulated. */
  regulatedFlag?: string
}

export interface CardIssuerAnswer {
  /** Issuer of the card. */
  bank?: string
  /** Phone number of the issuer. */
  phone?: string
  /** Web site of the issuer. */
  website?: string
}

export interface BankAccountAnswer {
  /** Last four characters of IBAN or account number. */
  last4Digits?: string
  /** Name of the account's owner. */
  holder?: string
  /** Name of the bank. */
  bankName?: string
  /** Domestic code of the bank. */
  bankCode?: string
  /** International code of the bank. */
  bic?: string
  /** Country of the account. */
  country?: string
  mandate?: BankAccountMandateAnswer
}

export interface BankAccountMandateAnswer {
  /** Direct-debit mandate. Not used for risk checks. */
  id?: string
  /** Date of the mandate's signature. Not used for risk checks. */
  dateOfSignature?: string
}

export interface TokenAccountAnswer {
  /** Last four digits of the token. */
  last4Digits?: string
  /** Issuer of the token: a card network or another party. */
  type?: ("EXTERNAL" | "NETWORK")
  /** Expiry month of the token, two digits. */
  expiryMonth?: string
  /** Expiry year of the token, four digits. */
  expiryYear?: string
}

export interface MerchantAnswer {
  bankAccount?: MerchantBankAccountAnswer
  billing?: MerchantBillingAnswer
  shipping?: MerchantShippingAnswer
  /** Name on the statement, often business name, asterisk, product. Takes precedence over descriptor. */
  name?: string
  /** Merchant category code. */
  mcc?: string
  /** Street. */
  street?: string
  /** Second line of the statement: the town, or a phone number, e-mail address or URL of an online shop. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three digits. */
  countryCode?: string
  /** Country, two letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Latitude and longitude of the shop. */
  geographicCoordinates?: string
  /** Town of the service. */
  serviceLocationCity?: string
  /** State of the service. */
  serviceLocationState?: string
  /** Country of the service. */
  serviceLocationCountryCode?: string
  /** Postal code of the service. */
  serviceLocationPostCode?: string
  /** Latitude and longitude of the service. */
  serviceLocationGeographicCoordinates?: string
  /** Further contact of the merchant. */
  additionalContact?: string
  /** Phone number. */
  phone?: string
  /** Phone number for shoppers. */
  customerContactPhone?: string
  /** Identifier of the web site. */
  websiteId?: string
  /** Address of the web site. */
  url?: string
  /** Code of the referring partner. */
  partnerIdCode?: string
  /** Independent sales organisation. */
  isoId?: string
  /** Payment facilitator, its id. */
  payFacId?: string
  /** Payment facilitator, its name. */
  payFacName?: string
  /** Marketplace. */
  marketplaceId?: string
  /** Facilitator's merchant, for one card network. */
  submerchantId?: string
  /** Tax number. */
  taxId?: string
  data?: MerchantDataAnswer
  /** Marks a marketplace sale by a foreign retailer. */
  foreignRetailIndicator?: string
  /** Registered name. */
  legalName?: string
  app?: MerchantAppAnswer
}

export interface MerchantBankAccountAnswer {
  /** Payee of the shopper's transfer. */
  holder: string
  /** Account for the transfer, an IBAN for SEPA. */
  number?: string
  /** Bank of that account. */
  bic?: string
  /** Country of that account. */
  country?: string
}

export interface MerchantBillingAnswer {
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and the shopper accepted its normalized form. */
  validationStatus?: string
  /** Given name of the contact. */
  givenName?: string
  /** Family name of the contact. */
  surname?: string
  /** Middle name of the contact. */
  middleName?: string
  /** Company at that place. */
  companyName?: string
  /** Phone number there. */
  phone?: string
  /** Second phone number there. */
  workPhone?: string
  /** Mobile number of the contact. */
  mobile?: string
  /** E-mail address of the contact. */
  email?: string
}

export interface MerchantShippingAnswer {
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Delivery method of the goods. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery, included in the amount. */
  cost?: string
  /** Delivery instructions. */
  comment?: string
  /** Expected date of the delivery. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's tracking number. */
  trackingNumber?: string
  /** The carrier's tracking number of a return. */
  returnTrackingNumber?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse of the goods. */
  warehouse?: string
  /** Delivery address for a payment method to use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the recipient. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the recipient. */
  phone?: string
  /** Mobile number of the recipient. */
  mobile?: string
  /** Work phone number of the recipient. */
  workPhone?: string
  /** E-mail address of the recipient. */
  email?: string
  /** Delivery to the shopper, or a return. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface MerchantDataAnswer {
  /** Further data of the merchant, by name. */
  [k: string]: string | undefined
}

export interface MerchantAppAnswer {
  /** Custom URL scheme for the return to the merchant's app. */
  schemeUrl?: string
}

export interface RiskAnswer {
  /** Sum of the risk checks, -99999 to 99999. */
  score?: string
}

export interface RegistrationAnswer {
  /** Same value as registrationId. */
  id?: string
}

export interface ForexAnswer {
  /** Amount in the foreign currency. */
  amount?: string
  /** The foreign currency. */
  currency?: CurrencyCode
}

export interface ApplePayAnswer {
  /** Card network reported by the wallet. */
  cardNetwork?: string
  /** Kind of card reported by the wallet: debit, credit, prepaid, store. */
  cardType?: string
}

export interface VirtualAccountAnswer {
  /** The shopper's account there, often an e-mail address. */
  accountId?: string
}

export interface CustomerAnswer {
  /** The merchant's own number of the shopper. */
  merchantCustomerId?: string
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Male or female. */
  sex?: ("M" | "F")
  /** Day of birth. */
  birthDate?: string
  /** Phone number; some risk checks need it. */
  phone?: string
  /** Mobile number; some risk checks need it. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and direct-debit mandates. */
  email?: string
  /** Company that the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types require it. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Payer reference shown to the payee. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper. */
  status?: ("NEW" | "EXISTING")
}

export interface ShippingAnswer {
  customer?: ShippingCustomerAnswer
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Delivery method of the goods. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery, included in the amount. */
  cost?: string
  /** Delivery instructions. */
  comment?: string
  /** Expected date of the delivery. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's tracking number. */
  trackingNumber?: string
  /** The carrier's tracking number of a return. */
  returnTrackingNumber?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse of the goods. */
  warehouse?: string
  /** Delivery address for a payment method to use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the recipient. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the recipient. */
  phone?: string
  /** Mobile number of the recipient. */
  mobile?: string
  /** Work phone number of the recipient. */
  workPhone?: string
  /** E-mail address of the recipient. */
  email?: string
  /** Delivery to the shopper, or a return. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface ShippingCustomerAnswer {
  /** The merchant's own number of the shopper. */
  merchantCustomerId?: string
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Male or female. */
  sex?: ("M" | "F")
  /** Day of birth. */
  birthDate?: string
  /** Phone number; some risk checks need it. */
  phone?: string
  /** Mobile number; some risk checks need it. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and direct-debit mandates. */
  email?: string
  /** Company that the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types require it. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Payer reference shown to the payee. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper. */
  status?: ("NEW" | "EXISTING")
}

export interface BillingAnswer {
  /** Street with its number; only its name when houseNumber1 is sent. */
  street1?: string
  /** Second line of the street. Ignored when houseNumber1 is sent. */
  street2?: string
  /** House number. */
  houseNumber1?: string
  /** Addition to the house number. */
  houseNumber2?: string
  /** Town or city. */
  city?: string
  /** State, county or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country. */
  country?: string
  /** Normalized address from an address check. */
  normalized?: string
  /** Whether the address was checked and the shopper accepted its normalized form. */
  validationStatus?: string
}

export interface CorporateAnswer {
  /** Name of the company. */
  name?: string
  /** Business of the company. */
  description?: string
  /** Street. */
  street?: string
  /** Address in one line. */
  address?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Postal code. */
  postCode?: string
  /** Suite or floor. */
  suite?: string
  /** Post office box. */
  postboxNumber?: string
  /** Whether the company is the buyer. */
  purchase?: ("Y" | "N")
  /** Phone number. */
  phone?: string
  /** Fax number. */
  fax?: string
  /** VAT number. */
  vatId?: string
}

export interface SenderAnswer {
  /** Full name. */
  name?: string
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Day of birth. */
  birthDate?: string
  /** Street. */
  street?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Kind of number in accountNumber. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "IBAN_AND_BIC" | "CARD_ACCOUNT")
  /** 01 credit, 02 debit, 03 prepaid, 04 cash, 05 other debit access, 06 other credit, 07 deposit, 08 mobile money, 09 other. */
  sourceOfFunds?: ("01" | "02" | "03" | "04" | "05" | "06" | "07" | "08" | "09")
}

export interface RecipientAnswer {
  /** Given name. */
  givenName?: string
  /** Middle name. */
  middleName?: string
  /** Family name. */
  surname?: string
  /** Day of birth. */
  birthDate?: string
  /** Phone number. */
  phone?: string
  /** Street. */
  street?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Kind of number in accountNumber. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "PHONE_NUMBER" | "BAN_AND_BIC" | "WALLET_ID" | "SOCIAL_NETWORK_ID")
}

export interface CartAnswer {
  items?: CartItemAnswer[]
  payments?: CartPaymentAnswer[]
}

export interface CartItemAnswer {
  /** Name of the article. */
  name?: string
  /** The merchant's own article number. */
  merchantItemId?: string
  /** Description of the article. */
  description?: string
  /** Quantity, in quantityUnit if sent. */
  quantity?: string
  /** Kind of article. */
  type?: ("PHYSICAL" | "DIGITAL" | "MIXED" | "ANONYMOUS_DONATION" | "AUTHORITIES_PAYMENT")
  /** Currency of the prices. */
  currency?: CurrencyCode
  /** Price of one piece after discount, with tax. */
  price?: string
  /** Price of the whole line. */
  totalAmount?: string
  /** Tax in the price of one piece. */
  taxAmount?: string
  /** Tax in the price of the line. */
  totalTaxAmount?: string
  /** Delivery cost of the line. */
  shipping?: string
  /** Discount on the article. */
  discount?: string
  /** Tax rate in percent, 0 to 100. */
  tax?: string
  /** Tax category: lower, standard, exempt or zero rate. */
  taxCategory?: ("AA" | "S" | "E" | "Z")
  /** Stock keeping unit. */
  sku?: string
  /** Message for a gift. */
  giftMessage?: string
  /** Delivery method of the article. */
  shippingMethod?: string
  /** Instructions for the carrier. */
  shippingInstructions?: string
  /** The carrier's tracking number. */
  shippingTrackingNumber?: string
  /** Seller on a marketplace, as in marketPlace.sellers[n].id. */
  sellerId?: string
  /** Price before tax and discount. */
  originalPrice?: string
  /** UNSPSC code of the goods, for level-3 card data. */
  commodityCode?: string
  /** Name of that UNSPSC class. */
  commodityDescription?: string
  /** Unit of the quantity. */
  quantityUnit?: ("M" | "CM" | "KG" | "G" | "COUNT")
  /** Page of the article. */
  productUrl?: string
  /** Picture of the article. */
  imageUrl?: string
  /** Discount on the line. */
  totalDiscountAmount?: string
  /** Code of the product. */
  productCode?: string
  /** Maker's number of the part. */
  partNumber?: string
  /** VAT reference of the line. */
  vatReferenceNumber?: string
  /** Number of the line. */
  itemNumber?: string
  /** Delivery date of the article. */
  deliveryDate?: string
  recipient?: CartItemRecipientAnswer
}

export interface CartItemRecipientAnswer {
  /** Form of address of the recipient. */
  salutation?: string
  /** Given name of the recipient. */
  firstName?: string
  /** Middle name of the recipient. */
  middleName?: string
  /** Family name of the recipient. */
  lastName?: string
  /** Apartment. */
  apartment?: string
  /** Street. */
  street?: string
  /** Address in one line. */
  address?: string
  /** Town or city. */
  city?: string
  /** State or region. */
  state?: string
  /** Postal code. */
  postcode?: string
  /** Country, two letters or three digits. */
  country?: string
  /** Phone number of the recipient. */
  phone?: string
  /** E-mail address of the recipient. */
  email?: string
}

export interface CartPaymentAnswer {
  /** Name of the payment. */
  name?: string
  /** Gift card or promotion. */
  type?: ("GIFTCARD" | "PROMOTION")
  /** Amount of the payment. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Status of the payment. */
  status?: ("pending" | "authorized" | "captured")
  /** Brand of the payment. */
  brand?: string
  /** Whether it is the main payment. */
  primary?: boolean | 'true' | 'false'
}

export interface MarketPlaceAnswer {
  sellers?: MarketPlaceSellerAnswer[]
}

export interface MarketPlaceSellerAnswer {
  /** Seller. */
  id?: string
  /** The seller's part of the amount. */
  amount?: string
}

export interface AirlineAnswer {
  /** Taxes of the whole booking. */
  totalTaxAmount?: string
  /** Fees of the whole booking. */
  totalFeesAmount?: string
  /** Fares of the whole booking. */
  totalFareAmount?: string
  /** Date of issue of the tickets. */
  ticketIssueDate?: string
  /** Place of issue of the tickets. */
  ticketIssueAddress?: string
  /** Whether the booking was made by a third party. */
  thirdPartyBooking?: string
  /** Kind of booking. */
  bookingtype?: string
  /** Delivery of the tickets. */
  ticketDeliveryMethod?: string
  /** Booking reference. */
  bookingRefNum?: string
  /** Travel agency. */
  agentName?: string
  /** Code of the agency. */
  agentCode?: string
  passengers?: AirlinePassengerAnswer[]
}

export interface AirlinePassengerAnswer {
  /** Country of residence of the passenger. */
  residenceCountry?: string
  /** Kind of passenger, such as adult or child. */
  type?: string
  /** Name of the passenger. */
  name?: string
  /** Whether the ticket is restricted. */
  ticketRestricted?: string
  /** Number of the ticket. */
  ticketNumber?: string
  /** Status of the passenger with the airline. */
  status?: string
  /** Phone number. */
  phone?: string
  /** Number in the frequent flyer programme. */
  frequentFlyerNumber?: string
  /** E-mail address. */
  email?: string
  /** Day of birth. */
  dob?: string
  /** Check digit of the ticket. */
  checkDigit?: string
  legs?: AirlinePassengerLegAnswer[]
}

export interface AirlinePassengerLegAnswer {
  /** Day of departure. */
  departureDate?: string
  /** Day of arrival. */
  arrivalDate?: string
  /** Days from the booking to the departure. */
  timeToDeparture?: string
  /** Ticket of this leg. */
  ticketNumber?: string
  /** Taxes of this leg. */
  taxAmount?: string
  /** Whether a stopover is allowed. */
  stopOverAllowed?: string
  /** Restrictions of the fare. */
  restrictions?: string
  /** Flight. */
  flightNumber?: string
  /** Fees of this leg. */
  feesAmount?: string
  /** Fare basis code. */
  fareBasis?: string
  /** Fare of this leg. */
  fareAmount?: string
  /** Ticket replaced by this one. */
  exchangeTicketNum?: string
  /** Tax on the departure. */
  departureTaxAmount?: string
  /** Country of departure. */
  departureCountry?: string
  /** Airport of departure. */
  departureAirport?: string
  /** Airline. */
  airlineName?: string
  /** Code of the airline. */
  airlineCode?: string
  /** Time of departure. */
  departureTime?: string
  /** Country of arrival. */
  arrivalCountry?: string
  /** Airport of arrival. */
  arrivalAirport?: string
  /** Time of arrival. */
  arrivalTime?: string
  /** Coupon of the ticket. */
  couponNumber?: string
  /** Code of the operating carrier. */
  classOfService?: string
  /** Code of the carrier that flies. */
  carrierCode?: string
}

export interface StandingInstructionAnswer {
  /** Kind of agreement. */
  type?: ("UNSCHEDULED" | "INSTALLMENT" | "RECURRING")
  /** Kind of merchant-initiated recurring payments. */
  recurringType?: ("STANDING_ORDER" | "SUBSCRIPTION")
  /** First payment of the agreement, or a later one. */
  mode?: ("INITIAL" | "REPEATED")
  /** Initiator: cardholder or merchant. */
  source?: ("CIT" | "MIT")
  /** Scheme's reference to the first payment. Added to later payments by the gateway; a value of the merchant takes precedence. */
  initialTransactionId?: string
  /** Reason of the merchant's further charge. */
  industryPractice?: ("INCREMENTAL_AUTH" | "RESUBMISSION" | "REAUTHORIZATION" | "DELAYED_CHARGES" | "NO_SHOW")
  /** Last day of the agreement, for 3-D Secure. */
  expiry?: string
  /** Minimum number of days between two payments. */
  frequency?: string
  /** Maximum number of instalments. 3-D Secure needs it for type INSTALLMENT. */
  numberOfInstallments?: string
  /** Name of the agreement at one card network, which gradually replaces initialTransactionId. */
  agreementId?: string
}

export interface ThreeDSecureAnswer {
  /** Electronic commerce indicator. */
  eci?: string
  /** Status of the authentication: authenticated, attempted, unavailable, not authenticated, informational, rejected, challenged or decoupled. */
  authenticationStatus?: ("Y" | "A" | "U" | "N" | "I" | "R" | "C" | "D")
  /** Directory server's number of the authentication. */
  dsTransactionId?: string
  /** Issuer's number of the authentication. */
  acsTransactionId?: string
  /** Version of the protocol. */
  version?: string
  /** Method of authentication. */
  authType?: string
  /** Reason of the status. */
  transactionStatusReason?: string
}

export interface CustomParametersAnswer {
  /** Value under a free name. Names from the shopper's browser begin with SHOPPER_. */
  [k: string]: string | undefined
}

export interface RedirectAnswer {
  /** Address to send the shopper to. */
  url?: string
  /** HTTP method of the redirect. */
  method?: ("GET" | "POST")
  parameters?: RedirectParameterAnswer[]
  preconditions?: RedirectPreconditionAnswer[]
}

export interface RedirectParameterAnswer {
  /** Name of a form field to post along. */
  name?: string
  /** Value of that form field. */
  value?: string
}

export interface RedirectPreconditionAnswer {
  /** Origin of this hidden step before the redirect. */
  origin?: string
  /** Event that ends the wait for the step. */
  waitUntil?: string
  /** Method of loading the hidden frame. */
  method?: ("GET" | "POST")
  /** Address of the hidden frame. */
  url?: string
  /** Description of the step. */
  description?: string
  parameters?: RedirectPreconditionParameterAnswer[]
}

export interface RedirectPreconditionParameterAnswer {
  /** Name of a form field of the step. */
  name?: string
  /** Value of that form field. */
  value?: string
}

export interface GiftCardAnswer {
  /** Name of the gift card's owner. */
  holder?: string
  /** Text printed with the gift card. */
  message?: string
  /** Occasion of the gift. */
  type?: ("ANNIVERSARY" | "BIRTHDAY" | "CONGRATULATIONS" | "APRIL_FOOLS_DAY" | "EASTER" | "FATHERS_DAY" | "GRADUATION" | "HOLIDAY" | "SEASONS_GREETINGS" | "PASSOVER" | "KWANZAA" | "HALLOWEEN" | "MOTHERS_DAY" | "NEW_YEARS_DAY" | "BOSSES_DAY" | "ST_PATRICKS_DAY" | "SWEETEST_DAY" | "CHRISTMAS" | "BABY_SHOWER" | "THANKSGIVING" | "OTHER" | "VALENTINES_DAY" | "WEDDING" | "SECRETARYS_DAY" | "CHINESE_NEW_YEAR" | "HANUKKAH" | "CELEBRATE_FALL" | "GRANDPARENTS_DAY" | "INDEPENDENCE_DAY")
}

export interface PaymentsFollowUpAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface PaymentsGetAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface PaymentsStepsAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  steps?: StepAnswer[]
}

export interface ResultAnswerOfPaymentsSteps {
  /** Result code. */
  code: string
  /** Description of the code. */
  description?: string
}

export interface StepAnswer {
  /** Number of the step, from 1 in order of time. */
  number: number
  /** Time of the step, or its due time; UTC. */
  at: string
  /** An operation at the acquirer (debit, enquire, reverseByKey), accepted, settled, settlement, repeated, acquirer-event, attention, attention-resolved, decision, job, follow-up, execution, missed, changed, payment, schedule, notification or waits. */
  name: string
  /** Description of the step. */
  text: string
  /** Result of the step. */
  outcome?: string
  /** Id of another resource in the step. */
  about?: string
  /** Actor: engine, operator, or the source of a payment's outcome. */
  by?: string
  /** Duration in microseconds. */
  durationUs?: number
  sent?: StepSentAnswer
  answered?: StepAnsweredAnswer
  requests?: StepRequestAnswer[]
}

export interface StepSentAnswer {
  /** Data of the request, by field name. A personal value is replaced by its class. */
  [k: string]: string | undefined
}

export interface StepAnsweredAnswer {
  /** Answer of the acquirer, by name. */
  [k: string]: string | undefined
}

export interface StepRequestAnswer {
  /** A request to the acquirer. */
  method?: string
  /** Address of the request. */
  url?: string
  /** Whether the request can move money. */
  moves?: boolean
  /** Whether any byte was written. */
  wroteBytes?: boolean
  /** Start in milliseconds after the beginning of the call. */
  startedMs?: number
  /** Duration in milliseconds. */
  durationMs?: number
  /** HTTP status of the answer. */
  status?: number
  /** Reason for a missing answer. */
  error?: string
  sentHeaders?: StepRequestSentHeadersAnswer
  /** Size of the request body. */
  sentBytes?: number
  /** Start of the request body, without secrets, card numbers and personal data. */
  sentBody?: string
  answeredHeaders?: StepRequestAnsweredHeadersAnswer
  /** Size of the answer body. */
  answeredBytes?: number
  /** Start of the answer body, without secrets, card numbers and personal data. */
  answeredBody?: string
}

export interface StepRequestSentHeadersAnswer {
  /** Headers of the request without secrets. */
  [k: string]: string | undefined
}

export interface StepRequestAnsweredHeadersAnswer {
  /** Headers of the answer without secrets. */
  [k: string]: string | undefined
}

export interface ThreeDSecureCreateAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswerOfThreeDSecureCreate
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface ThreeDSecureAnswerOfThreeDSecureCreate {
  /** Electronic commerce indicator. */
  eci?: string
  /** Status of the authentication: authenticated, attempted, unavailable, not authenticated, informational, rejected, challenged or decoupled. */
  authenticationStatus?: ("Y" | "A" | "U" | "N" | "I" | "R" | "C" | "D")
  /** Directory server's number of the authentication. */
  dsTransactionId?: string
  /** Issuer's number of the authentication. */
  acsTransactionId?: string
  /** Version of the protocol. */
  version?: string
  /** Method of authentication. */
  authType?: string
  /** Reason of the status. */
  transactionStatusReason?: string
  /** Proof of authentication (CAVV, AAV), for one payment. */
  verificationId?: string
}

export interface ThreeDSecureGetAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswerOfThreeDSecureCreate
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface RegistrationsCreateAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Same value for the same account number within one installation; reveals nothing about the number. */
  fingerprint?: string
  /** Time of storage. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
  forex?: ForexAnswer
  shipping?: ShippingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  applePay?: ApplePayAnswer
  threeDSecure?: ThreeDSecureAnswer
  redirect?: RedirectAnswer
}

export interface RegistrationsPayAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface RegistrationsUpdateAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Same value for the same account number within one installation; reveals nothing about the number. */
  fingerprint?: string
  /** Time of storage. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsUpdate
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface MerchantAnswerOfRegistrationsUpdate {
  bankAccount?: MerchantBankAccountAnswer
}

export interface RegistrationsGetAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Same value for the same account number within one installation; reveals nothing about the number. */
  fingerprint?: string
  /** Time of storage. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsUpdate
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface RegistrationsExtendAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Same value for the same account number within one installation; reveals nothing about the number. */
  fingerprint?: string
  /** Time of storage. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsUpdate
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface RegistrationsRemoveAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Same value for the same account number within one installation; reveals nothing about the number. */
  fingerprint?: string
  /** Time of storage. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsUpdate
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface RegistrationsStepsAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  steps?: StepAnswer[]
}

export interface CheckoutsCreateAnswer {
  /** Id of the checkout, for the widget. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Hash of the widget script of this checkout, if it was requested. */
  integrity?: string
}

export interface CheckoutsUpdateAnswer {
  /** Id of the checkout, for the widget. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Hash of the widget script of this checkout, if it was requested. */
  integrity?: string
}

export interface CheckoutsRemoveAnswer {
  /** Id of the checkout, for the widget. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Hash of the widget script of this checkout, if it was requested. */
  integrity?: string
}

export interface CheckoutsPaymentAnswer {
  /** Id of the checkout, for the widget. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
  /** Hash of the widget script of this checkout, if it was requested. */
  integrity?: string
}

export interface CheckoutsRegistrationAnswer {
  /** Id of the checkout, for the widget. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
  /** Hash of the widget script of this checkout, if it was requested. */
  integrity?: string
}

export interface CheckoutsPayAnswer {
  /** Result of the press. waiting: follow redirect, or ask for the state. busy: another press is under way. changed: the merchant changed the checkout since. */
  state: ("paid" | "declined" | "waiting" | "busy" | "closed" | "invalid" | "changed")
  errors?: ErrorAnswer[]
  /** Number of further tries. */
  attemptsLeft?: number
  /** The merchant's page, with id and resourcePath. */
  resultUrl?: string
  /** True when the redirect opens in the frame of the widget. */
  inFrame?: boolean
  redirect?: RedirectAnswerOfCheckoutsPay
}

export interface ErrorAnswer {
  /** A field to correct. */
  field?: string
  /** What is wrong with it. */
  reason?: ("required" | "invalid" | "expired")
}

export interface RedirectAnswerOfCheckoutsPay {
  /** Address to send the shopper to. */
  url?: string
  /** HTTP method of the redirect. */
  method?: ("GET" | "POST")
  parameters?: RedirectParameterAnswer[]
  preconditions?: RedirectPreconditionAnswerOfCheckoutsPay[]
}

export interface RedirectPreconditionAnswerOfCheckoutsPay {
  /** Origin of this hidden step before the redirect. */
  origin?: string
  /** Event that ends the wait for the step. */
  waitUntil?: string
  /** Method of loading the hidden frame. */
  method?: ("GET" | "POST")
  /** Address of the hidden frame. */
  url?: string
  parameters?: RedirectPreconditionParameterAnswer[]
  /** Description of the step. */
  description?: string
}

export interface CheckoutsRegisterAnswer {
  /** Result of the press. waiting: follow redirect, or ask for the state. busy: another press is under way. changed: the merchant changed the checkout since. */
  state: ("paid" | "declined" | "waiting" | "busy" | "closed" | "invalid" | "changed")
  errors?: ErrorAnswer[]
  /** Number of further tries. */
  attemptsLeft?: number
  /** The merchant's page, with id and resourcePath. */
  resultUrl?: string
  /** True when the redirect opens in the frame of the widget. */
  inFrame?: boolean
  redirect?: RedirectAnswerOfCheckoutsPay
}

export interface CheckoutsStateAnswer {
  /** State: the shopper may pay (free), a payment is under way (busy), or the checkout is paid or closed. */
  state: ("free" | "busy" | "paid" | "closed")
  /** True when only the acquirer is awaited: the shopper may go on to resultUrl. */
  awaited?: boolean
  /** The merchant's page, with id and resourcePath. */
  resultUrl?: string
  /** True when the redirect opens in the frame of the widget. */
  inFrame?: boolean
  redirect?: RedirectAnswerOfCheckoutsPay
}

export interface CheckoutsWidgetAnswer {
  /** Whether the checkout takes a payment, or only stores an account. */
  kind: ("payment" | "registration")
  /** Amount of the payment. */
  amount?: string
  /** Currency of the payment. */
  currency?: CurrencyCode
  /** What the page shows; a submission sends it back. */
  shown: string
  brands?: BrandAnswer[]
  wallets?: WalletAnswer[]
  registrations?: RegistrationAnswerOfCheckoutsWidget[]
  /** True when the account is stored in any case. */
  createRegistration: boolean
  /** True when the shopper decides whether the account is stored. */
  mayRegister: boolean
  /** Items: Fields of the billing address that the shopper has to fill in. */
  missingBilling?: string[]
  /** Name of the merchant. */
  merchantName?: string
  /** Reference of the order. */
  reference?: string
  /** Language of the page. */
  locale?: string
  /** Items: Origins of the merchant's pages, if they are limited. */
  widgetOrigins?: string[]
  /** True in the test environment. */
  test: boolean
  /** True when the checkout itself names the page after the payment. */
  result: boolean
  /** Items: Fields of the shopper that the merchant has filled. */
  merchantFields?: string[]
  /** Origin of card fields, where it is not that of the script. */
  fieldsUrl?: string
  /** Script that the checkout was made with. */
  scriptHash?: string
}

export interface BrandAnswer {
  /** Brands to choose from. */
  brand?: BrandCode
  /** How the shopper pays with the brand. */
  flow?: ("card" | "redirect" | "bank")
}

export interface WalletAnswer {
  /** Wallets whose button the page may show, where the browser has them. */
  field?: ("applePay" | "googlePay")
  /** The wallet's own word for the environment. */
  environment?: string
  /** Id of the gateway at the wallet. */
  gateway?: string
  /** Id of the merchant at the gateway. */
  gatewayMerchantId?: string
  /** Id of the merchant at the wallet. */
  merchantId?: string
  /** Name that the wallet shows to the shopper. */
  merchantName?: string
  /** Country of the acquirer. */
  country?: string
}

export interface RegistrationAnswerOfCheckoutsWidget {
  /** Stored accounts to choose from. */
  id?: string
  /** Brand of the account. */
  brand?: BrandCode
  /** Last four characters of its number. */
  last4?: string
  /** Expiry month. */
  expiryMonth?: string
  /** Expiry year. */
  expiryYear?: string
  /** Whether the shopper enters the security code. */
  cvv?: ("asked" | "not")
}

export interface CheckoutsWalletSessionAnswer {
  /** The wallet's own object for its sheet, as JSON. */
  session: string
}

export interface SchedulesCreateAnswer {
  /** Id of the schedule. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Short number of the schedule, for people. */
  shortId?: string
  job?: JobAnswer
  /** Items: The next runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** Effective date of a cancellation. */
  effectiveDate?: string
  /** State: waiting, ending at a later moment, cancelled, or ended. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA time zone of the schedule. */
  timeZone?: string
  /** Time of creation. */
  createdAt?: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  forex?: ForexAnswer
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  merchant?: MerchantAnswerOfSchedulesCreate
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface JobAnswer {
  /** First possible run, in milliseconds since 1970 UTC. */
  startDate?: number
  /** Last possible run, in milliseconds since 1970 UTC. */
  endDate?: number
  /** Label of the schedule, for people. */
  name?: string
  /** Years, 1970 to 2099. */
  year?: string
  /** Months, 1 to 12 or JAN to DEC. */
  month?: string
  /** Days of the month, 1 to 31; also ?, L, W. */
  dayOfMonth?: string
  /** Days of the week, 1 (Sunday) to 7 or SUN to SAT; also ?, L, #. */
  dayOfWeek?: string
  /** Hours, 0 to 23. */
  hour?: string
  /** Minutes, 0 to 59. */
  minute?: string
  /** Seconds, 0 to 59. */
  second?: string
  /** Unit of the notice of cancellation. */
  noticeUnit?: ("YEAR" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND")
  /** Number of those units of notice before the end of a period. */
  noticeNumber?: string
  /** Whether notice counts from now or towards the end of a period. */
  noticeCallable?: ("ANYTIME" | "DURATION_END")
  /** Unit of the period. */
  durationUnit?: ("YEAR" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND")
  /** Number of those units in a period. */
  durationNumber?: string
  /** Second, minute, hour, day of month, month, day of week and an optional year in one string. Replaces those fields. */
  expression?: string
}

export interface MerchantAnswerOfSchedulesCreate {
  billing?: MerchantBillingAnswer
  shipping?: MerchantShippingAnswer
  /** Name on the statement, often business name, asterisk, product. Takes precedence over descriptor. */
  name?: string
  /** Merchant category code. */
  mcc?: string
  /** Street. */
  street?: string
  /** Second line of the statement: the town, or a phone number, e-mail address or URL of an online shop. */
  city?: string
  /** State or region. */
  state?: string
  /** Country, three digits. */
  countryCode?: string
  /** Country, two letters. */
  country?: string
  /** Postal code. */
  postcode?: string
  /** Latitude and longitude of the shop. */
  geographicCoordinates?: string
  /** Town of the service. */
  serviceLocationCity?: string
  /** State of the service. */
  serviceLocationState?: string
  /** Country of the service. */
  serviceLocationCountryCode?: string
  /** Postal code of the service. */
  serviceLocationPostCode?: string
  /** Latitude and longitude of the service. */
  serviceLocationGeographicCoordinates?: string
  /** Further contact of the merchant. */
  additionalContact?: string
  /** Phone number. */
  phone?: string
  /** Phone number for shoppers. */
  customerContactPhone?: string
  /** Identifier of the web site. */
  websiteId?: string
  /** Address of the web site. */
  url?: string
  /** Code of the referring partner. */
  partnerIdCode?: string
  /** Independent sales organisation. */
  isoId?: string
  /** Payment facilitator, its id. */
  payFacId?: string
  /** Payment facilitator, its name. */
  payFacName?: string
  /** Marketplace. */
  marketplaceId?: string
  /** Facilitator's merchant, for one card network. */
  submerchantId?: string
  /** Tax number. */
  taxId?: string
  data?: MerchantDataAnswer
  /** Marks a marketplace sale by a foreign retailer. */
  foreignRetailIndicator?: string
  /** Registered name. */
  legalName?: string
  app?: MerchantAppAnswer
}

export interface SchedulesPreviewAnswer {
  /** Id of the schedule. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Short number of the schedule, for people. */
  shortId?: string
  job?: JobAnswer
  /** Items: The next runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** Effective date of a cancellation. */
  effectiveDate?: string
  /** State: waiting, ending at a later moment, cancelled, or ended. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA time zone of the schedule. */
  timeZone?: string
  /** Time of creation. */
  createdAt?: string
}

export interface SchedulesListAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  schedules?: ScheduleAnswer[]
  executions?: ExecutionAnswer[]
  missed?: MissedAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface ScheduleAnswer {
  /** Id of the schedule. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Short number of the schedule, for people. */
  shortId?: string
  job?: JobAnswer
  /** Items: The next runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** Effective date of a cancellation. */
  effectiveDate?: string
  /** State: waiting, ending at a later moment, cancelled, or ended. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA time zone of the schedule. */
  timeZone?: string
  /** Time of creation. */
  createdAt?: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  forex?: ForexAnswer
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  merchant?: MerchantAnswerOfSchedulesCreate
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface ExecutionAnswer {
  /** Executions, newest first. */
  id?: string
  /** Instant of the execution. */
  scheduledAt?: string
  /** DUE: not charged yet. FAILED: no payment could be made. Otherwise the state of its payment. */
  state?: ("DUE" | "FAILED" | "PROCESSING" | "PENDING" | "APPROVED" | "DECLINED" | "UNKNOWN" | "EXPIRED")
  /** Payment of the execution; the last one after retries. */
  paymentId?: string
  /** Number of payments of the execution. */
  attempts?: number
  result?: ExecutionResultAnswer
}

export interface ExecutionResultAnswer {
  /** Result code of the execution. */
  code?: string
  /** Description of that code. */
  description?: string
}

export interface MissedAnswer {
  /** First of a range of missed instants. */
  from?: string
  /** Last instant of the range. */
  to?: string
  /** Number of instants in the range. */
  count?: string
}

export interface SchedulesGetAnswer {
  /** Id of the schedule. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Short number of the schedule, for people. */
  shortId?: string
  job?: JobAnswer
  /** Items: The next runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** Effective date of a cancellation. */
  effectiveDate?: string
  /** State: waiting, ending at a later moment, cancelled, or ended. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA time zone of the schedule. */
  timeZone?: string
  /** Time of creation. */
  createdAt?: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  forex?: ForexAnswer
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  merchant?: MerchantAnswerOfSchedulesCreate
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface SchedulesExecutionsAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  schedules?: ScheduleAnswerOfSchedulesExecutions[]
  executions?: ExecutionAnswer[]
  missed?: MissedAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface ScheduleAnswerOfSchedulesExecutions {
  /** Schedules, newest first; each as in a single read. */
  id?: string
}

export interface SchedulesRescheduleAnswer {
  /** Id of the schedule. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Short number of the schedule, for people. */
  shortId?: string
  job?: JobAnswer
  /** Items: The next runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** Effective date of a cancellation. */
  effectiveDate?: string
  /** State: waiting, ending at a later moment, cancelled, or ended. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA time zone of the schedule. */
  timeZone?: string
  /** Time of creation. */
  createdAt?: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  forex?: ForexAnswer
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  merchant?: MerchantAnswerOfSchedulesCreate
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface SchedulesRemoveAnswer {
  /** Id of the schedule. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Short number of the schedule, for people. */
  shortId?: string
  job?: JobAnswer
  /** Items: The next runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** Effective date of a cancellation. */
  effectiveDate?: string
  /** State: waiting, ending at a later moment, cancelled, or ended. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA time zone of the schedule. */
  timeZone?: string
  /** Time of creation. */
  createdAt?: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  forex?: ForexAnswer
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  merchant?: MerchantAnswerOfSchedulesCreate
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface QuerySearchAnswer {
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  payments?: TransactionAnswer[]
  records?: TransactionAnswer[]
  /** Number of pages, at most 100 (version 3, without cursor). */
  pages?: number
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface TransactionAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface QueryGetAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
}

export interface SchedulesStepsAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  steps?: StepAnswer[]
}

export interface EventsListAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  events?: EventAnswer[]
  /** Cursor of the next page, which can still be empty. */
  nextCursor: string
  /** Whether more events are available. */
  more: boolean
}

export interface EventAnswer {
  /** Notifications, oldest first; each as in a single read. */
  id?: string
  /** Sequence number among the events of the resource. */
  sequence?: number
  /** Time of storage. */
  at?: string
  /** Type of the resource. */
  type?: ("PAYMENT" | "REGISTRATION" | "SCHEDULE")
  /** Change of the resource; absent for payments. */
  action?: ("CREATED" | "UPDATED" | "DELETED")
  payload?: (PaymentPayloadAnswer | RegistrationPayloadAnswer | SchedulePayloadAnswer)
}

export interface PaymentPayloadAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswer
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  forex?: ForexAnswer
  applePay?: ApplePayAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  threeDSecure?: ThreeDSecureAnswer
  customParameters?: CustomParametersAnswer
  redirect?: RedirectAnswer
  giftCard?: GiftCardAnswer
  /** SCHEDULER if a schedule made the payment. */
  source?: "SCHEDULER"
  /** Id of that schedule. */
  scheduleId?: string
  /** Amount shown to the shopper. */
  presentationAmount?: string
  /** Currency shown to the shopper. */
  presentationCurrency?: CurrencyCode
}

export interface RegistrationPayloadAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  /** Same value for the same account number within one installation; reveals nothing about the number. */
  fingerprint?: string
  /** Time of storage. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand of the payment. */
  paymentBrand?: BrandCode
  /** Payment type of this record. */
  paymentType?: PaymentTypeCode
  /** Approved amount. */
  amount?: string
  /** Currency of that amount. */
  currency?: CurrencyCode
  /** Tax contained in the amount, as sent. */
  taxAmount?: string
  /** Discount on the whole invoice, as sent. */
  discountAmount?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference sent by the merchant. */
  merchantTransactionId?: string
  /** Registration created or used. */
  registrationId?: string
  settlement?: SettlementAnswer
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: PaymentTypeCode[]
  /** True when nothing reached the acquirer, so that the request can be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Brand recognised from the number. */
  brandResult?: string
  result: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsUpdate
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** Collection date of a direct debit. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface SchedulePayloadAnswer {
  /** Id of the schedule. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Short number of the schedule, for people. */
  shortId?: string
  job?: JobAnswer
  /** Items: The next runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** Effective date of a cancellation. */
  effectiveDate?: string
  /** State: waiting, ending at a later moment, cancelled, or ended. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA time zone of the schedule. */
  timeZone?: string
  /** Time of creation. */
  createdAt?: string
  /** Charged amount, including tax and shipping. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: CurrencyCode
  /** Brand of the payment method. Optional where the card number determines it. */
  paymentBrand?: BrandCode
  /** Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request. */
  paymentType?: PaymentTypeCode
  /** Text on the statement, complete or partial, depending on the merchant account. */
  descriptor?: string
  /** Reference of the merchant, preferably unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  forex?: ForexAnswer
  customer?: CustomerAnswer
  shipping?: ShippingAnswer
  billing?: BillingAnswer
  merchant?: MerchantAnswerOfSchedulesCreate
  corporate?: CorporateAnswer
  sender?: SenderAnswer
  recipient?: RecipientAnswer
  cart?: CartAnswer
  marketPlace?: MarketPlaceAnswer
  airline?: AirlineAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
  /** Change of the schedule. Missed instants come with schedule.missed, an execution with schedule.execution.failed. */
  event: ("schedule.created" | "schedule.changed" | "schedule.cancelled" | "schedule.ended" | "schedule.missed" | "schedule.execution.failed")
  missed?: MissedAnswer[]
  executions?: ExecutionAnswerOfEventsList[]
}

export interface ExecutionAnswerOfEventsList {
  /** Executions, newest first. */
  id?: string
  /** Instant of the execution. */
  scheduledAt?: string
  /** DUE: not charged yet. FAILED: no payment could be made. Otherwise the state of its payment. */
  state?: ("DUE" | "FAILED" | "PROCESSING" | "PENDING" | "APPROVED" | "DECLINED" | "UNKNOWN" | "EXPIRED")
  /** Number of payments of the execution. */
  attempts?: number
  result?: ExecutionResultAnswer
}

export interface EventsGetAnswer {
  /** Id of the notification, as in webhook-id. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Sequence number among the events of the resource, as in webhook-sequence. */
  sequence: number
  /** Time of storage. */
  at: string
  /** Type of the resource. */
  type: ("PAYMENT" | "REGISTRATION" | "SCHEDULE")
  /** Change of the resource; absent for payments. */
  action?: ("CREATED" | "UPDATED" | "DELETED")
  payload: (PaymentPayloadAnswer | RegistrationPayloadAnswer | SchedulePayloadAnswer)
}

export interface TestClocksCreateAnswer {
  /** Id of the clock, as used in testClock. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** ADVANCING: due work on the way is under way. */
  status?: ("READY" | "ADVANCING")
  /** Time of the clock. */
  now?: string
  /** Target of the advance. */
  target?: string
  /** Progress of the advance in percent. */
  progress?: number
  /** Label of the clock, for people. */
  name?: string
}

export interface TestClocksListAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  clocks?: ClockAnswer[]
}

export interface ClockAnswer {
  /** Id of the clock, as used in testClock. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** ADVANCING: due work on the way is under way. */
  status?: ("READY" | "ADVANCING")
  /** Time of the clock. */
  now?: string
  /** Target of the advance. */
  target?: string
  /** Progress of the advance in percent. */
  progress?: number
  /** Label of the clock, for people. */
  name?: string
}

export interface TestClocksGetAnswer {
  /** Id of the clock, as used in testClock. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** ADVANCING: due work on the way is under way. */
  status?: ("READY" | "ADVANCING")
  /** Time of the clock. */
  now?: string
  /** Target of the advance. */
  target?: string
  /** Progress of the advance in percent. */
  progress?: number
  /** Label of the clock, for people. */
  name?: string
}

export interface TestClocksAdvanceAnswer {
  /** Id of the clock, as used in testClock. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** ADVANCING: due work on the way is under way. */
  status?: ("READY" | "ADVANCING")
  /** Time of the clock. */
  now?: string
  /** Target of the advance. */
  target?: string
  /** Progress of the advance in percent. */
  progress?: number
  /** Label of the clock, for people. */
  name?: string
}

export interface WebhooksCreateAnswer {
  /** Id of the endpoint. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Address of the notifications. */
  url: string
  /** Types of notifications. */
  types: string
  /** Wrapper of the body. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean | 'true' | 'false'
  /** Entity whose notifications the endpoint receives, with those of all entities below it. */
  entityId: string
  /** Encryption key. Shown once, at creation. */
  encryptionKey?: string
  /** Signing secret. Shown once, at creation. */
  signingSecret?: string
  /** Time of creation. */
  createdAt?: string
  /** End of the time in which the previous secret signs as well. */
  previousSecretUntil?: string
  /** End of the time in which the previous encryption key may be used: keep both keys, and try both. */
  previousKeyUntil?: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time at which the gateway disabled the endpoint. */
  disabledAt?: string
  /** Reason of the disabling. */
  disabledReason?: string
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface WebhooksListAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  webhooks?: WebhookAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface WebhookAnswer {
  /** Id of the endpoint. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Address of the notifications. */
  url: string
  /** Types of notifications. */
  types: string
  /** Wrapper of the body. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean | 'true' | 'false'
  /** Entity whose notifications the endpoint receives, with those of all entities below it. */
  entityId: string
  /** Encryption key. Shown once, at creation. */
  encryptionKey?: string
  /** Signing secret. Shown once, at creation. */
  signingSecret?: string
  /** Time of creation. */
  createdAt?: string
  /** End of the time in which the previous secret signs as well. */
  previousSecretUntil?: string
  /** End of the time in which the previous encryption key may be used: keep both keys, and try both. */
  previousKeyUntil?: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time at which the gateway disabled the endpoint. */
  disabledAt?: string
  /** Reason of the disabling. */
  disabledReason?: string
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface WebhooksGetAnswer {
  /** Id of the endpoint. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Address of the notifications. */
  url: string
  /** Types of notifications. */
  types: string
  /** Wrapper of the body. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean | 'true' | 'false'
  /** Entity whose notifications the endpoint receives, with those of all entities below it. */
  entityId: string
  /** Encryption key. Shown once, at creation. */
  encryptionKey?: string
  /** Signing secret. Shown once, at creation. */
  signingSecret?: string
  /** Time of creation. */
  createdAt?: string
  /** End of the time in which the previous secret signs as well. */
  previousSecretUntil?: string
  /** End of the time in which the previous encryption key may be used: keep both keys, and try both. */
  previousKeyUntil?: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time at which the gateway disabled the endpoint. */
  disabledAt?: string
  /** Reason of the disabling. */
  disabledReason?: string
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface WebhooksUpdateAnswer {
  /** Id of the endpoint. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Address of the notifications. */
  url: string
  /** Types of notifications. */
  types: string
  /** Wrapper of the body. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean | 'true' | 'false'
  /** Entity whose notifications the endpoint receives, with those of all entities below it. */
  entityId: string
  /** Encryption key. Shown once, at creation. */
  encryptionKey?: string
  /** Signing secret. Shown once, at creation. */
  signingSecret?: string
  /** Time of creation. */
  createdAt?: string
  /** End of the time in which the previous secret signs as well. */
  previousSecretUntil?: string
  /** End of the time in which the previous encryption key may be used: keep both keys, and try both. */
  previousKeyUntil?: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time at which the gateway disabled the endpoint. */
  disabledAt?: string
  /** Reason of the disabling. */
  disabledReason?: string
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface WebhooksRemoveAnswer {
  /** Id of the endpoint. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Address of the notifications. */
  url: string
  /** Types of notifications. */
  types: string
  /** Wrapper of the body. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean | 'true' | 'false'
  /** Entity whose notifications the endpoint receives, with those of all entities below it. */
  entityId: string
  /** Encryption key. Shown once, at creation. */
  encryptionKey?: string
  /** Signing secret. Shown once, at creation. */
  signingSecret?: string
  /** Time of creation. */
  createdAt?: string
  /** End of the time in which the previous secret signs as well. */
  previousSecretUntil?: string
  /** End of the time in which the previous encryption key may be used: keep both keys, and try both. */
  previousKeyUntil?: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time at which the gateway disabled the endpoint. */
  disabledAt?: string
  /** Reason of the disabling. */
  disabledReason?: string
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface WebhooksRotateAnswer {
  /** Id of the endpoint. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Address of the notifications. */
  url: string
  /** Types of notifications. */
  types: string
  /** Wrapper of the body. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean | 'true' | 'false'
  /** Entity whose notifications the endpoint receives, with those of all entities below it. */
  entityId: string
  /** Encryption key. Shown once, at creation. */
  encryptionKey?: string
  /** Signing secret. Shown once, at creation. */
  signingSecret?: string
  /** Time of creation. */
  createdAt?: string
  /** End of the time in which the previous secret signs as well. */
  previousSecretUntil?: string
  /** End of the time in which the previous encryption key may be used: keep both keys, and try both. */
  previousKeyUntil?: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time at which the gateway disabled the endpoint. */
  disabledAt?: string
  /** Reason of the disabling. */
  disabledReason?: string
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface WebhooksTestAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Whether the endpoint accepted the test. */
  delivered?: boolean
  /** Status of the endpoint's answer. */
  httpStatus?: number
  /** Reason for a missing answer. */
  error?: string
  /** Start of the endpoint's answer, without secrets. */
  answer?: string
  /** Duration of the test. */
  durationMs?: number
  /** Number of replayed notifications. */
  replayed?: number
  /** Start of the next request when the range exceeds the limit of one replay. */
  nextFrom?: string
}

export interface WebhooksReplayAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Whether the endpoint accepted the test. */
  delivered?: boolean
  /** Status of the endpoint's answer. */
  httpStatus?: number
  /** Reason for a missing answer. */
  error?: string
  /** Start of the endpoint's answer, without secrets. */
  answer?: string
  /** Duration of the test. */
  durationMs?: number
  /** Number of replayed notifications. */
  replayed?: number
  /** Start of the next request when the range exceeds the limit of one replay. */
  nextFrom?: string
}

export interface WebhooksDeliveriesAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  deliveries?: DeliveryAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface DeliveryAnswer {
  /** Notifications, newest first. */
  id?: string
  /** Event of the notification. */
  eventId?: string
  /** Type of the resource. */
  type?: ("PAYMENT" | "REGISTRATION" | "SCHEDULE" | "CALLBACK")
  /** Payment, registration or schedule. */
  resource?: string
  /** DEAD: given up. */
  state?: ("PENDING" | "DELIVERED" | "DEAD")
  /** Reason for giving the notification up. */
  reason?: string
  /** Whether the notification was replayed. */
  replay?: boolean
  /** Time of the event. */
  createdAt?: string
  /** Time of the next attempt. */
  nextAttemptAt?: string
  attempts?: DeliveryAttemptAnswer[]
}

export interface DeliveryAttemptAnswer {
  /** Time of an attempt. */
  at?: string
  /** Duration of the attempt. */
  durationMs?: number
  /** Status of the answer. */
  httpStatus?: number
  /** Reason for a missing answer. */
  error?: string
  /** Start of the answer, without secrets. */
  answer?: string
}

export interface ReportsAggregationsAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  aggregations?: AggregationAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface AggregationAnswer {
  /** Id of the payout in this currency. */
  id?: string
  /** First day of settlement of its records, in the time zone of the clearing institute. */
  date?: string
  /** Day on which the money of the payout reaches the merchant, as the clearing institute reports it. */
  valueDate?: string
  /** The clearing institute's reference of the payout, as on the merchant's bank statement. */
  payoutId?: string
  clearingInstitute?: AggregationClearingInstituteAnswer
  merchantAccount?: AggregationMerchantAccountAnswer
  /** Test clock of the payments. */
  testClock?: string
  /** Currency of the payout. */
  currency?: CurrencyCode
  /** Number of records. */
  count?: number
  /** Balance before the payout, which the payout before left. Only for readers who see the whole payout, like tax, reserve, adjustments, closing, payout and status. */
  opening?: string
  /** Settled payments, less credits (CD). */
  gross?: string
  /** Refunds. */
  refunds?: string
  /** Chargebacks. */
  chargebacks?: string
  /** Reversals of chargebacks. */
  reversals?: string
  fees?: AggregationFeeAnswer[]
  /** Taxes. */
  tax?: string
  /** Reserve released, less reserve held. */
  reserve?: string
  /** Adjustments and transfers. */
  adjustments?: string
  /** All amounts above, less closing: the computed payout. */
  net?: string
  /** Balance after the payout, which the next payout carries on. */
  closing?: string
  /** The payout as the clearing institute reports it. Absent until then. */
  payout?: string
  /** OPEN: the clearing institute has not reported the payout yet. BALANCED: the reported payout equals net. UNBALANCED: it does not. */
  status?: ("OPEN" | "BALANCED" | "UNBALANCED")
  exceptions?: AggregationExceptionAnswer[]
}

export interface AggregationClearingInstituteAnswer {
  /** Name of the clearing institute. */
  name?: string
  /** The merchant's number at the clearing institute. */
  merchantId?: string
}

export interface AggregationMerchantAccountAnswer {
  /** Acquirer account of all records, if they have one in common. */
  id?: string
  /** Name of its channel. */
  name?: string
}

export interface AggregationFeeAnswer {
  /** SETTLEMENT_FEE: kept from single records. PAYOUT_FEE: of the payout. Others: transaction types of fee records. */
  kind?: string
  /** Sum of these fees. */
  amount?: string
}

export interface AggregationExceptionAnswer {
  /** Why records need a check: NOT_MATCHED, MULTIPLE_MATCHES, or a discrepancy. CONTROL: the payout is UNBALANCED. */
  kind?: string
  /** Number of these records. */
  count?: number
}

export interface ReportsAggregationAnswer {
  /** Id of the payout in this currency. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** First day of settlement of its records, in the time zone of the clearing institute. */
  date: string
  /** Day on which the money of the payout reaches the merchant, as the clearing institute reports it. */
  valueDate?: string
  /** The clearing institute's reference of the payout, as on the merchant's bank statement. */
  payoutId?: string
  clearingInstitute?: ClearingInstituteAnswer
  merchantAccount?: MerchantAccountAnswer
  /** Test clock of the payments. */
  testClock?: string
  /** Currency of the payout. */
  currency: CurrencyCode
  /** Number of records. */
  count: number
  /** Balance before the payout, which the payout before left. Only for readers who see the whole payout, like tax, reserve, adjustments, closing, payout and status. */
  opening?: string
  /** Settled payments, less credits (CD). */
  gross: string
  /** Refunds. */
  refunds: string
  /** Chargebacks. */
  chargebacks: string
  /** Reversals of chargebacks. */
  reversals: string
  fees?: FeeAnswer[]
  /** Taxes. */
  tax?: string
  /** Reserve released, less reserve held. */
  reserve?: string
  /** Adjustments and transfers. */
  adjustments?: string
  /** All amounts above, less closing: the computed payout. */
  net: string
  /** Balance after the payout, which the next payout carries on. */
  closing?: string
  /** The payout as the clearing institute reports it. Absent until then. */
  payout?: string
  /** OPEN: the clearing institute has not reported the payout yet. BALANCED: the reported payout equals net. UNBALANCED: it does not. */
  status?: ("OPEN" | "BALANCED" | "UNBALANCED")
  exceptions?: ExceptionAnswer[]
  /** Number of pages, of 100 records each. */
  pages?: number
  records?: RecordAnswer[]
}

export interface ClearingInstituteAnswer {
  /** Name of the clearing institute. */
  name: string
  /** The merchant's number at the clearing institute. */
  merchantId: string
}

export interface MerchantAccountAnswer {
  /** Acquirer account of all records, if they have one in common. */
  id?: string
  /** Name of its channel. */
  name?: string
}

export interface FeeAnswer {
  /** SETTLEMENT_FEE: kept from single records. PAYOUT_FEE: of the payout. Others: transaction types of fee records. */
  kind?: string
  /** Sum of these fees. */
  amount?: string
}

export interface ExceptionAnswer {
  /** Why records need a check: NOT_MATCHED, MULTIPLE_MATCHES, or a discrepancy. CONTROL: the payout is UNBALANCED. */
  kind?: string
  /** Number of these records. */
  count?: number
}

export interface RecordAnswer {
  /** Kind of record. */
  recordType?: ("SETTLED" | "CHARGEBACK" | "CHARGEBACK REVERSAL" | "FEE")
  /** Kind of payment or fee. */
  transactionType?: ("DEBIT" | "CREDIT" | "REFUND" | "BATCH" | "MONTHLY" | "SUBMERCHANT" | "PAYMENT_FACILITATOR" | "AUTH_FEE" | "CAPTURE_FEE" | "CANCEL_FEE" | "REFUND_FEE")
  settlement?: RecordSettlementAnswer
  clearingInstitute?: RecordClearingInstituteAnswer
  merchantAccount?: RecordMerchantAccountAnswer
  /** Payment service provider. */
  pspEntityId?: string
  /** Division. */
  divisionEntityId?: string
  /** Merchant. */
  merchantEntityId?: string
  payment?: RecordPaymentAnswer
  /** Short number of the payment. */
  shortId?: string
  /** Amount as the clearing institute reports it; `AMOUNT` says that it differs from the payment. */
  amount?: string
  /** Currency of this amount. */
  currency?: CurrencyCode
  /** Brand of the payment. */
  paymentBrand?: string
  /** Order time of the payment in the clearing institute's time zone; the reading time of a file without it. */
  presentmentDate?: string
  /** Text on the statement of the account. */
  descriptor?: string
  card?: RecordCardAnswer
  bankAccount?: RecordBankAccountAnswer
  result?: RecordResultAnswer
  matchedTransactions?: RecordMatchedTransactionsAnswer
  chargebackTransaction?: RecordChargebackTransactionAnswer
  /** Reference of the merchant. Not in the file. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Not in the file. */
  merchantInvoiceId?: string
  /** Id of the record, the same in all versions. */
  id?: string
  /** Version of the record; rises with each correction. */
  version?: number
  /** Items: Differences from the payment. */
  discrepancies?: string[]
}

export interface RecordSettlementAnswer {
  /** POS: the merchant receives the amount. NEG: the merchant pays it. */
  cashflow?: ("POS" | "NEG")
  /** The clearing institute's number of the settlement; without one, the id of the record. The same in all versions of a record. */
  id?: string
  /** Amount that the clearing institute pays out or takes for the record, before its fee. */
  amount?: string
  /** Currency of the settlement. */
  currency?: CurrencyCode
  /** Fee that the clearing institute keeps, in the currency of the settlement. */
  fee?: string
  /** Rate from the currency of the amount to that of the settlement. */
  fxRate?: string
  /** Day of settlement, in the time zone of the clearing institute. */
  date?: string
  /** SUCCESS: the amount is part of the payout. FAILED: it is not paid out. */
  status?: ("SUCCESS" | "FAILED")
  /** Format of the record's file. */
  format?: string
}

export interface RecordClearingInstituteAnswer {
  /** The merchant's number at the clearing institute. */
  merchantId?: string
  /** First of the clearing institute's references. */
  txId1?: string
  /** Second of the clearing institute's references. */
  txId2?: string
  /** Third of the clearing institute's references. */
  txId3?: string
  /** Name of the clearing institute. */
  name?: string
}

export interface RecordMerchantAccountAnswer {
  /** Acquirer account of the payment, or the one by which the file came. */
  id?: string
  /** Name of the channel of that account. */
  name?: string
}

export interface RecordPaymentAnswer {
  /** Id of the payment. */
  id?: string
  /** Amount of the payment, to compare with `amount`. Not in the file. */
  amount?: string
  /** Currency of the payment. Not in the file. */
  currency?: CurrencyCode
}

export interface RecordCardAnswer {
  /** Last four digits of a card. */
  last4Digits?: string
  /** Holder of a card. */
  holder?: string
}

export interface RecordBankAccountAnswer {
  /** Last four characters of a bank account. */
  last4Digits?: string
  /** Code of the bank. */
  bankCode?: string
  /** Holder of a bank account. */
  holder?: string
}

export interface RecordResultAnswer {
  /** Reason of a chargeback. */
  code?: string
  /** Description of that reason. */
  description?: string
}

export interface RecordMatchedTransactionsAnswer {
  /** Whether the record matches a payment. */
  status?: ("MATCHED" | "MULTIPLE_MATCHES" | "NOT_MATCHED")
  payment?: RecordMatchedTransactionsPaymentAnswer[]
  /** Number of matching payments, if more than are listed. */
  count?: number
}

export interface RecordMatchedTransactionsPaymentAnswer {
  /** The matching payments: at most 100 ids, with commas between them in the file. */
  id?: string
}

export interface RecordChargebackTransactionAnswer {
  /** The chargeback that the record told of its payment, or of the declined one that it names. */
  id?: string
}

export interface ReportsRecordsAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Number of pages, of 100 records each. */
  pages?: number
  records?: RecordAnswer[]
}

export interface ReportsFilesAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  files?: FileAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface FileAnswer {
  /** Files, newest first. */
  id?: string
  /** Name of the file. */
  name?: string
  /** Merchant of the records; above merchants, the entity whose records match no payment. */
  entity?: string
  /** Test clock of the records. */
  testClock?: string
  /** Number of the file: counts from 1 for each entity and test clock. */
  no?: number
  /** Number of records in the file. */
  rows?: number
  /** Size in bytes. */
  bytes?: number
  /** SHA-256 of the bytes. */
  sha256?: string
  /** Time of the file, on the clock of its records. */
  madeAt?: string
}

export type ReportsFileAnswer = Record<string, unknown>

export interface ReportDestinationsCreateAnswer {
  /** Id of the destination. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Server and folder. */
  folderUrl: string
  login?: LoginAnswer
  /** Pinned host keys. */
  hostKey?: string
  /** Certificates of the only trusted authorities. */
  certificate?: string
  /** Whether text that looks like a formula stays as it is. */
  raw: boolean | 'true' | 'false'
  /** Whether files are delivered. */
  active: boolean | 'true' | 'false'
  /** Entity whose report files are delivered. */
  entityId: string
  /** Time of creation. Files of later times are delivered, earlier ones by a replay. */
  createdAt: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface LoginAnswer {
  /** Name of the login. */
  user: string
  /** What proves the login. Its value is never shown. */
  type: ("PASSWORD" | "KEY")
}

export interface ReportDestinationsListAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  destinations?: DestinationAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface DestinationAnswer {
  /** Id of the destination. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Server and folder. */
  folderUrl: string
  login?: LoginAnswer
  /** Pinned host keys. */
  hostKey?: string
  /** Certificates of the only trusted authorities. */
  certificate?: string
  /** Whether text that looks like a formula stays as it is. */
  raw: boolean | 'true' | 'false'
  /** Whether files are delivered. */
  active: boolean | 'true' | 'false'
  /** Entity whose report files are delivered. */
  entityId: string
  /** Time of creation. Files of later times are delivered, earlier ones by a replay. */
  createdAt: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface ReportDestinationsGetAnswer {
  /** Id of the destination. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Server and folder. */
  folderUrl: string
  login?: LoginAnswer
  /** Pinned host keys. */
  hostKey?: string
  /** Certificates of the only trusted authorities. */
  certificate?: string
  /** Whether text that looks like a formula stays as it is. */
  raw: boolean | 'true' | 'false'
  /** Whether files are delivered. */
  active: boolean | 'true' | 'false'
  /** Entity whose report files are delivered. */
  entityId: string
  /** Time of creation. Files of later times are delivered, earlier ones by a replay. */
  createdAt: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface ReportDestinationsUpdateAnswer {
  /** Id of the destination. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Server and folder. */
  folderUrl: string
  login?: LoginAnswer
  /** Pinned host keys. */
  hostKey?: string
  /** Certificates of the only trusted authorities. */
  certificate?: string
  /** Whether text that looks like a formula stays as it is. */
  raw: boolean | 'true' | 'false'
  /** Whether files are delivered. */
  active: boolean | 'true' | 'false'
  /** Entity whose report files are delivered. */
  entityId: string
  /** Time of creation. Files of later times are delivered, earlier ones by a replay. */
  createdAt: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface ReportDestinationsRemoveAnswer {
  /** Id of the destination. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Server and folder. */
  folderUrl: string
  login?: LoginAnswer
  /** Pinned host keys. */
  hostKey?: string
  /** Certificates of the only trusted authorities. */
  certificate?: string
  /** Whether text that looks like a formula stays as it is. */
  raw: boolean | 'true' | 'false'
  /** Whether files are delivered. */
  active: boolean | 'true' | 'false'
  /** Entity whose report files are delivered. */
  entityId: string
  /** Time of creation. Files of later times are delivered, earlier ones by a replay. */
  createdAt: string
  /** Time of the first of the current consecutive failures. */
  failingSince?: string
  /** Number of consecutive failures. */
  failures?: number
  /** Time of removal; the delivery log stays readable. */
  removedAt?: string
}

export interface ReportDestinationsTestAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Whether the server stored the test file, which was then removed. */
  delivered?: boolean
  /** Code of the failure. */
  error?: string
  /** The failure in words. */
  message?: string
  /** Duration of the test. */
  durationMs?: number
  /** Number of files that are delivered again. */
  replayed?: number
  /** Number of the first file that the replay left out: the fromNo of the next one. */
  nextNo?: number
}

export interface ReportDestinationsReplayAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** Whether the server stored the test file, which was then removed. */
  delivered?: boolean
  /** Code of the failure. */
  error?: string
  /** The failure in words. */
  message?: string
  /** Duration of the test. */
  durationMs?: number
  /** Number of files that are delivered again. */
  replayed?: number
  /** Number of the first file that the replay left out: the fromNo of the next one. */
  nextNo?: number
}

export interface ReportDestinationsDeliveriesAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  deliveries?: DeliveryAnswerOfReportDestinationsDeliveries[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface DeliveryAnswerOfReportDestinationsDeliveries {
  /** Deliveries, newest first. */
  id?: string
  /** Report file. */
  fileId?: string
  /** Name of the file. */
  name?: string
  /** Size of the file. */
  bytes?: number
  /** DEAD: given up. */
  state?: ("PENDING" | "DELIVERED" | "DEAD")
  /** Reason for giving the file up. */
  reason?: string
  /** Whether the file was sent by a replay. */
  replay?: boolean
  /** Time at which the file was to be delivered. */
  createdAt?: string
  /** Time of the next attempt. */
  nextAttemptAt?: string
  attempts?: DeliveryAttemptAnswerOfReportDestinationsDeliveries[]
}

export interface DeliveryAttemptAnswerOfReportDestinationsDeliveries {
  /** Time of an attempt. */
  at?: string
  /** Duration of the attempt. */
  durationMs?: number
  /** Result of the attempt: stored, was-there, was-taken, or the code of a failure. */
  result?: string
  /** The failure in words. */
  message?: string
}

export interface SftpKeysCreateAnswer {
  /** Id of the key. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** SHA256 fingerprint, as shown by ssh-keygen -lf. */
  fingerprint: string
  /** Type of the key. */
  keyType: string
  /** Name for people. */
  name?: string
  /** Entity whose report files the key reads. */
  entityId: string
  /** Time of creation. */
  createdAt: string
  /** Time of the last login. */
  lastUsedAt?: string
  /** Time of removal. */
  removedAt?: string
}

export interface SftpKeysListAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  keys?: SftpKeyAnswer[]
  /** Cursor of the next page; absent on the last. */
  nextCursor?: string
}

export interface SftpKeyAnswer {
  /** Id of the key. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** SHA256 fingerprint, as shown by ssh-keygen -lf. */
  fingerprint: string
  /** Type of the key. */
  keyType: string
  /** Name for people. */
  name?: string
  /** Entity whose report files the key reads. */
  entityId: string
  /** Time of creation. */
  createdAt: string
  /** Time of the last login. */
  lastUsedAt?: string
  /** Time of removal. */
  removedAt?: string
}

export interface SftpKeysRemoveAnswer {
  /** Id of the key. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
  /** SHA256 fingerprint, as shown by ssh-keygen -lf. */
  fingerprint: string
  /** Type of the key. */
  keyType: string
  /** Name for people. */
  name?: string
  /** Entity whose report files the key reads. */
  entityId: string
  /** Time of creation. */
  createdAt: string
  /** Time of the last login. */
  lastUsedAt?: string
  /** Time of removal. */
  removedAt?: string
}

export interface ResultCodesListAnswer {
  resultCodes?: ResultCodeAnswer[]
}

export interface ResultCodeAnswer {
  /** Result code. */
  code: string
  /** Description of the code. */
  description: string
}

export interface ConnectorsEventAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
}

export interface ConnectorsEventByGetAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
}

export type ReturnsGetAnswer = Record<string, unknown>

export type ReturnsPostAnswer = Record<string, unknown>

export type WidgetScriptAnswer = Record<string, unknown>

export type WidgetAssetAnswer = Record<string, unknown>

export type WidgetChallengeAnswer = Record<string, unknown>

export type WidgetFrameAnswer = Record<string, unknown>

export type CheckoutsPageAnswer = Record<string, unknown>

export type CheckoutsPayByPageAnswer = Record<string, unknown>

export type PagesGetAnswer = Record<string, unknown>

export type PagesPostAnswer = Record<string, unknown>

export interface HealthLiveAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
}

export interface HealthReadyAnswer {
  /** Id of the payment or registration; of the request without a resource. */
  id: string
  result: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** Time of the answer. */
  timestamp: string
  /** The gateway's own number of the request; for a checkout its id. */
  ndc: string
}

export type OpenapiGetAnswer = Record<string, unknown>

export type ReferenceGetAnswer = Record<string, unknown>

/** Requests of an embedder, by operation. */
export interface Requests {
  'payments.create': PaymentsCreateRequest
  'payments.followUp': PaymentsFollowUpRequest
  'payments.get': PaymentsGetRequest
  'payments.steps': PaymentsStepsRequest
  'threeDSecure.create': ThreeDSecureCreateRequest
  'threeDSecure.get': ThreeDSecureGetRequest
  'registrations.create': RegistrationsCreateRequest
  'registrations.pay': RegistrationsPayRequest
  'registrations.update': RegistrationsUpdateRequest
  'registrations.get': RegistrationsGetRequest
  'registrations.extend': RegistrationsExtendRequest
  'registrations.remove': RegistrationsRemoveRequest
  'registrations.steps': RegistrationsStepsRequest
  'checkouts.create': CheckoutsCreateRequest
  'checkouts.update': CheckoutsUpdateRequest
  'checkouts.remove': CheckoutsRemoveRequest
  'checkouts.payment': CheckoutsPaymentRequest
  'checkouts.registration': CheckoutsRegistrationRequest
  'checkouts.pay': CheckoutsPayRequest
  'checkouts.register': CheckoutsRegisterRequest
  'checkouts.state': CheckoutsStateRequest
  'checkouts.widget': CheckoutsWidgetRequest
  'checkouts.walletSession': CheckoutsWalletSessionRequest
  'schedules.create': SchedulesCreateRequest
  'schedules.preview': SchedulesPreviewRequest
  'schedules.list': SchedulesListRequest
  'schedules.get': SchedulesGetRequest
  'schedules.executions': SchedulesExecutionsRequest
  'schedules.reschedule': SchedulesRescheduleRequest
  'schedules.remove': SchedulesRemoveRequest
  'query.search': QuerySearchRequest
  'query.get': QueryGetRequest
  'schedules.steps': SchedulesStepsRequest
  'events.list': EventsListRequest
  'events.get': EventsGetRequest
  'testClocks.create': TestClocksCreateRequest
  'testClocks.list': TestClocksListRequest
  'testClocks.get': TestClocksGetRequest
  'testClocks.advance': TestClocksAdvanceRequest
  'webhooks.create': WebhooksCreateRequest
  'webhooks.list': WebhooksListRequest
  'webhooks.get': WebhooksGetRequest
  'webhooks.update': WebhooksUpdateRequest
  'webhooks.remove': WebhooksRemoveRequest
  'webhooks.rotate': WebhooksRotateRequest
  'webhooks.test': WebhooksTestRequest
  'webhooks.replay': WebhooksReplayRequest
  'webhooks.deliveries': WebhooksDeliveriesRequest
  'reports.aggregations': ReportsAggregationsRequest
  'reports.aggregation': ReportsAggregationRequest
  'reports.records': ReportsRecordsRequest
  'reports.files': ReportsFilesRequest
  'reports.file': ReportsFileRequest
  'reportDestinations.create': ReportDestinationsCreateRequest
  'reportDestinations.list': ReportDestinationsListRequest
  'reportDestinations.get': ReportDestinationsGetRequest
  'reportDestinations.update': ReportDestinationsUpdateRequest
  'reportDestinations.remove': ReportDestinationsRemoveRequest
  'reportDestinations.test': ReportDestinationsTestRequest
  'reportDestinations.replay': ReportDestinationsReplayRequest
  'reportDestinations.deliveries': ReportDestinationsDeliveriesRequest
  'sftpKeys.create': SftpKeysCreateRequest
  'sftpKeys.list': SftpKeysListRequest
  'sftpKeys.remove': SftpKeysRemoveRequest
  'resultCodes.list': ResultCodesListRequest
  'connectors.event': ConnectorsEventRequest
  'connectors.eventByGet': ConnectorsEventByGetRequest
  'returns.get': ReturnsGetRequest
  'returns.post': ReturnsPostRequest
  'widget.script': WidgetScriptRequest
  'widget.asset': WidgetAssetRequest
  'widget.challenge': WidgetChallengeRequest
  'widget.frame': WidgetFrameRequest
  'checkouts.page': CheckoutsPageRequest
  'checkouts.payByPage': CheckoutsPayByPageRequest
  'pages.get': PagesGetRequest
  'pages.post': PagesPostRequest
  'health.live': HealthLiveRequest
  'health.ready': HealthReadyRequest
  'openapi.get': OpenapiGetRequest
  'reference.get': ReferenceGetRequest
}

/** Answers, by operation. */
export interface Answers {
  'payments.create': PaymentsCreateAnswer
  'payments.followUp': PaymentsFollowUpAnswer
  'payments.get': PaymentsGetAnswer
  'payments.steps': PaymentsStepsAnswer
  'threeDSecure.create': ThreeDSecureCreateAnswer
  'threeDSecure.get': ThreeDSecureGetAnswer
  'registrations.create': RegistrationsCreateAnswer
  'registrations.pay': RegistrationsPayAnswer
  'registrations.update': RegistrationsUpdateAnswer
  'registrations.get': RegistrationsGetAnswer
  'registrations.extend': RegistrationsExtendAnswer
  'registrations.remove': RegistrationsRemoveAnswer
  'registrations.steps': RegistrationsStepsAnswer
  'checkouts.create': CheckoutsCreateAnswer
  'checkouts.update': CheckoutsUpdateAnswer
  'checkouts.remove': CheckoutsRemoveAnswer
  'checkouts.payment': CheckoutsPaymentAnswer
  'checkouts.registration': CheckoutsRegistrationAnswer
  'checkouts.pay': CheckoutsPayAnswer
  'checkouts.register': CheckoutsRegisterAnswer
  'checkouts.state': CheckoutsStateAnswer
  'checkouts.widget': CheckoutsWidgetAnswer
  'checkouts.walletSession': CheckoutsWalletSessionAnswer
  'schedules.create': SchedulesCreateAnswer
  'schedules.preview': SchedulesPreviewAnswer
  'schedules.list': SchedulesListAnswer
  'schedules.get': SchedulesGetAnswer
  'schedules.executions': SchedulesExecutionsAnswer
  'schedules.reschedule': SchedulesRescheduleAnswer
  'schedules.remove': SchedulesRemoveAnswer
  'query.search': QuerySearchAnswer
  'query.get': QueryGetAnswer | QuerySearchAnswer
  'schedules.steps': SchedulesStepsAnswer
  'events.list': EventsListAnswer
  'events.get': EventsGetAnswer
  'testClocks.create': TestClocksCreateAnswer
  'testClocks.list': TestClocksListAnswer
  'testClocks.get': TestClocksGetAnswer
  'testClocks.advance': TestClocksAdvanceAnswer
  'webhooks.create': WebhooksCreateAnswer
  'webhooks.list': WebhooksListAnswer
  'webhooks.get': WebhooksGetAnswer
  'webhooks.update': WebhooksUpdateAnswer
  'webhooks.remove': WebhooksRemoveAnswer
  'webhooks.rotate': WebhooksRotateAnswer
  'webhooks.test': WebhooksTestAnswer
  'webhooks.replay': WebhooksReplayAnswer
  'webhooks.deliveries': WebhooksDeliveriesAnswer
  'reports.aggregations': ReportsAggregationsAnswer
  'reports.aggregation': ReportsAggregationAnswer
  'reports.records': ReportsRecordsAnswer
  'reports.files': ReportsFilesAnswer
  'reports.file': ReportsFileAnswer
  'reportDestinations.create': ReportDestinationsCreateAnswer
  'reportDestinations.list': ReportDestinationsListAnswer
  'reportDestinations.get': ReportDestinationsGetAnswer
  'reportDestinations.update': ReportDestinationsUpdateAnswer
  'reportDestinations.remove': ReportDestinationsRemoveAnswer
  'reportDestinations.test': ReportDestinationsTestAnswer
  'reportDestinations.replay': ReportDestinationsReplayAnswer
  'reportDestinations.deliveries': ReportDestinationsDeliveriesAnswer
  'sftpKeys.create': SftpKeysCreateAnswer
  'sftpKeys.list': SftpKeysListAnswer
  'sftpKeys.remove': SftpKeysRemoveAnswer
  'resultCodes.list': ResultCodesListAnswer
  'connectors.event': ConnectorsEventAnswer
  'connectors.eventByGet': ConnectorsEventByGetAnswer
  'returns.get': ReturnsGetAnswer
  'returns.post': ReturnsPostAnswer
  'widget.script': WidgetScriptAnswer
  'widget.asset': WidgetAssetAnswer
  'widget.challenge': WidgetChallengeAnswer
  'widget.frame': WidgetFrameAnswer
  'checkouts.page': CheckoutsPageAnswer
  'checkouts.payByPage': CheckoutsPayByPageAnswer
  'pages.get': PagesGetAnswer
  'pages.post': PagesPostAnswer
  'health.live': HealthLiveAnswer
  'health.ready': HealthReadyAnswer
  'openapi.get': OpenapiGetAnswer
  'reference.get': ReferenceGetAnswer
}

export type OperationName = keyof Requests
