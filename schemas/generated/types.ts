// Made from the field tables by `npm run generate`. Not to be edited.
export interface PaymentsCreateRequest {
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency: string
  /** Brand of the payment method. May be left out where the card number tells it. */
  paymentBrand?: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Kept for reports, not sent on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL says that no further follow-up of this type comes. */
  sequence?: string
  /** How many partial captures there may be at most. */
  numberOfCaptures?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, as far as the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries demand it for account funding and original credits. */
  transactionPurposeCode?: string
  /** How the merchant is integrated. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Ties an authorisation to its increases, reversals and captures. */
  lifecycleId?: string
  /** Id of an earlier authorisation, where the URL does not name it: for increases and renewals. */
  referenceUuid?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  forex?: Forex
  card?: Card
  applePay?: ApplePay
  googlePay?: GooglePay
  samsungPay?: SamsungPay
  virtualAccount?: VirtualAccount
  bankAccount?: BankAccount
  /** When a direct debit is to be collected. Not used for risk checks. */
  transactionDueDate?: string
  tokenAccount?: TokenAccount
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
  /** Stores the instrument; the answer carries registrationId. Usable once the payment is approved. */
  createRegistration?: boolean | 'true' | 'false'
  /** Lets a holder in this request fill an empty one of the registration, for this payment only. */
  overrideHolder?: boolean | 'true' | 'false'
  recurringMigration?: RecurringMigration
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecure
  customParameters?: CustomParameters
  /** Where the shopper goes afterwards; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Gets a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  giftCard?: GiftCard
  /** Id of the test clock that the new resource lives on. */
  testClock?: string
}

export interface Forex {
  /** Amount in the foreign currency. */
  amount?: string
  /** The foreign currency. */
  currency?: string
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
  /** Whether the number is the card itself or a device number. */
  numberType?: ("PAN" | "DPAN")
}

export interface ApplePay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
  /** Where the token came from, when the merchant decrypted it. */
  source?: ("web" | "app")
  /** Card network as the wallet reported it. */
  cardNetwork?: string
  /** Kind of card as the wallet reported it: debit, credit, prepaid, store. */
  cardType?: string
}

export interface GooglePay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
  /** Where the token came from, when the merchant decrypted it. */
  source?: ("web" | "app")
}

export interface SamsungPay {
  /** Encrypted token exactly as the wallet made it. */
  paymentToken?: string
  /** Where the token came from, when the merchant decrypted it. */
  source?: ("web" | "app")
}

export interface VirtualAccount {
  /** The shopper's account there, often an e-mail address. */
  accountId: string
}

export interface BankAccount {
  /** Who owns the account. */
  holder: string
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
  /** Where the account is kept. */
  country?: string
  mandate?: BankAccountMandate
}

export interface BankAccountMandate {
  /** Direct-debit mandate. Not used for risk checks. */
  id?: string
  /** When the mandate was signed. Not used for risk checks. */
  dateOfSignature?: string
}

export interface TokenAccount {
  /** The token, shaped like a card number. */
  number: string
  /** Who issued the token: a card network or somebody else. */
  type: ("EXTERNAL" | "NETWORK")
  /** Expiry month of the token, two digits. */
  expiryMonth?: string
  /** Expiry year of the token, four digits. */
  expiryYear?: string
  /** Base64 proof that this token may be used now. Used once. */
  cryptogram?: string
  /** Dynamic security code of the token. Used once. */
  dtvc?: string
}

export interface Customer {
  /** The merchant's own number for the shopper. */
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
  /** Phone number; some risk checks want one. */
  phone?: string
  /** Mobile number; some risk checks want one. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and to send direct-debit mandates. */
  email?: string
  /** Company the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types demand one. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Reference of the payer that the payee is to see. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper already. */
  status?: ("NEW" | "EXISTING")
  browserFingerprint?: CustomerBrowserFingerprint
  browser?: CustomerBrowser
  app?: CustomerApp
}

export interface CustomerBrowserFingerprint {
  /** Name of a device fingerprint session. */
  id?: string
  /** The fingerprint itself. */
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
  /** Device number that the browser was given. */
  deviceId?: string
}

export interface CustomerApp {
  /** Device number that the app was given. */
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
  /** How the goods are delivered. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery; part of the amount already. */
  cost?: string
  /** Words for the delivery. */
  comment?: string
  /** When the delivery should arrive. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's number of the parcel. */
  trackingNumber?: string
  /** The carrier's number of the returned parcel. */
  returnTrackingNumber?: string
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse that the goods leave from. */
  warehouse?: string
  /** Which delivery address a payment method should use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the receiver. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the receiver. */
  phone?: string
  /** Mobile number of the receiver. */
  mobile?: string
  /** Phone number of the receiver at work. */
  workPhone?: string
  /** E-mail address of the receiver. */
  email?: string
  /** Delivery to the shopper, or back from them. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface ShippingCustomer {
  /** The merchant's own number for the shopper. */
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
  /** Phone number; some risk checks want one. */
  phone?: string
  /** Mobile number; some risk checks want one. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and to send direct-debit mandates. */
  email?: string
  /** Company the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types demand one. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Reference of the payer that the payee is to see. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper already. */
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
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and the shopper agreed to its normalized form. */
  validationStatus?: string
}

export interface Merchant {
  billing?: MerchantBilling
  shipping?: MerchantShipping
  /** Name on the statement, often business name, asterisk, product. Goes before descriptor. */
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
  /** Town where the service is given. */
  serviceLocationCity?: string
  /** State where the service is given. */
  serviceLocationState?: string
  /** Country where the service is given. */
  serviceLocationCountryCode?: string
  /** Postal code where the service is given. */
  serviceLocationPostCode?: string
  /** Latitude and longitude where the service is given. */
  serviceLocationGeographicCoordinates?: string
  /** Further way to reach the merchant. */
  additionalContact?: string
  /** Phone number. */
  phone?: string
  /** Phone number that shoppers call. */
  customerContactPhone?: string
  /** Identifier of the web site. */
  websiteId?: string
  /** Address of the web site. */
  url?: string
  /** Code of the partner that brought the merchant. */
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
  /** Marks a marketplace sale by a retailer abroad. */
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
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and the shopper agreed to its normalized form. */
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
  /** How the goods are delivered. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery; part of the amount already. */
  cost?: string
  /** Words for the delivery. */
  comment?: string
  /** When the delivery should arrive. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's number of the parcel. */
  trackingNumber?: string
  /** The carrier's number of the returned parcel. */
  returnTrackingNumber?: string
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse that the goods leave from. */
  warehouse?: string
  /** Which delivery address a payment method should use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the receiver. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the receiver. */
  phone?: string
  /** Mobile number of the receiver. */
  mobile?: string
  /** Phone number of the receiver at work. */
  workPhone?: string
  /** E-mail address of the receiver. */
  email?: string
  /** Delivery to the shopper, or back from them. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface MerchantData {
  /** Further data of the merchant, by name. */
  [k: string]: string | undefined
}

export interface MerchantApp {
  /** Custom URL scheme that brings the shopper back into the merchant's app. */
  schemeUrl?: string
}

export interface Corporate {
  /** Name of the company. */
  name?: string
  /** What the company does. */
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
  /** Account that the money comes from. */
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
  /** What kind of number accountNumber is. */
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
  /** Account that the money goes to. */
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
  /** What kind of number accountNumber is. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "PHONE_NUMBER" | "BAN_AND_BIC" | "WALLET_ID" | "SOCIAL_NETWORK_ID")
}

export interface Cart {
  items?: CartItem[]
  payments?: CartPayment[]
}

export interface CartItem {
  /** Name of the article. */
  name?: string
  /** The merchant's own number of the article. */
  merchantItemId?: string
  /** Words about the article. */
  description?: string
  /** How many, or how much in quantityUnit. */
  quantity?: string
  /** What kind of article it is. */
  type?: ("PHYSICAL" | "DIGITAL" | "MIXED" | "ANONYMOUS_DONATION" | "AUTHORITIES_PAYMENT")
  /** Currency of the prices. */
  currency?: string
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
  /** Words that go with a present. */
  giftMessage?: string
  /** How the article is delivered. */
  shippingMethod?: string
  /** Words for the carrier. */
  shippingInstructions?: string
  /** The carrier's number of the parcel. */
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
  /** Page about the article. */
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
  /** When the article is delivered. */
  deliveryDate?: string
  recipient?: CartItemRecipient
}

export interface CartItemRecipient {
  /** Form of address of the receiver. */
  salutation?: string
  /** Given name of the receiver. */
  firstName?: string
  /** Middle name of the receiver. */
  middleName?: string
  /** Family name of the receiver. */
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
  /** Phone number of the receiver. */
  phone?: string
  /** E-mail address of the receiver. */
  email?: string
}

export interface CartPayment {
  /** Name of the means. */
  name?: string
  /** Gift card or promotion. */
  type?: ("GIFTCARD" | "PROMOTION")
  /** What it pays. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** How far that payment got. */
  status?: ("pending" | "authorized" | "captured")
  /** Brand of the means. */
  brand?: string
  /** Whether it is the main one. */
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
  /** When the tickets were issued. */
  ticketIssueDate?: string
  /** Where the tickets were issued. */
  ticketIssueAddress?: string
  /** Whether somebody else booked. */
  thirdPartyBooking?: string
  /** Kind of booking. */
  bookingtype?: string
  /** How the tickets are handed over. */
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
  /** Where the passenger lives. */
  residenceCountry?: string
  /** Adult, child and the like. */
  type?: string
  /** Name of the passenger. */
  name?: string
  /** Whether the ticket is restricted. */
  ticketRestricted?: string
  /** Number of the ticket. */
  ticketNumber?: string
  /** Standing of the passenger with the airline. */
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
  /** Whether the journey may be broken here. */
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
  /** Ticket that this one replaces. */
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
  /** Booking class. */
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
   * When the initial transaction was made.
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
  /** Kind of recurring payments the merchant starts. */
  recurringType?: ("STANDING_ORDER" | "SUBSCRIPTION")
  /** First payment of the agreement, or a later one. */
  mode?: ("INITIAL" | "REPEATED")
  /** Who started it: cardholder or merchant. */
  source?: ("CIT" | "MIT")
  /** Scheme's reference to the first payment. Sent by itself on later ones; a value of the merchant wins. */
  initialTransactionId?: string
  /** Why the merchant charges again. */
  industryPractice?: ("INCREMENTAL_AUTH" | "RESUBMISSION" | "REAUTHORIZATION" | "DELAYED_CHARGES" | "NO_SHOW")
  /** Last day of the agreement, for 3-D Secure. */
  expiry?: string
  /** Fewest days between two payments. */
  frequency?: string
  /** How many instalments there are at most. 3-D Secure needs it for type INSTALLMENT. */
  numberOfInstallments?: string
  /** Name of the agreement at one card network; replaces initialTransactionId there step by step. */
  agreementId?: string
}

export interface ThreeDSecure {
  /** Amount to authenticate, where it differs from the payment. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Encrypted device data of the mobile SDK. Starts the app-based flow. */
  deviceInfo?: string
  merchant?: ThreeDSecureMerchant
  v2?: ThreeDSecureV2
  /** Marks an authentication that the merchant starts without the shopper, for one network. */
  channel?: string
  /** Authentication without a payment. */
  npa?: boolean | 'true' | 'false'
  /** Lets the issuer authenticate the shopper outside this session. */
  decoupled?: boolean | 'true' | 'false'
  /** Why the merchant starts an authentication. */
  threeRIInd?: ("RECURRING" | "SPLIT_SHIPMENT" | "DELAYED_SHIPMENT")
  /** What the authentication is for. */
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
  /** Whether the issuer insisted on a challenge. */
  challengeMandatedIndicator?: ("Y" | "N")
  /** Version of the protocol. */
  version?: string
  /** How the shopper was authenticated. */
  authType?: string
  /** Why the status is what it is. */
  transactionStatusReason?: string
  /** Whether the merchant wants a challenge; 04 insists on one. */
  challengeIndicator?: string
  /** Exemption from strong authentication that the merchant claims. */
  exemptionFlag?: string
  schemeData?: ThreeDSecureSchemeData
}

export interface ThreeDSecureMerchant {
  /** Merchant as the issuer shows it. */
  name?: string
  /** Merchant's web site as the issuer shows it. */
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
  /** Cartes Bancaires: how many articles were bought. Better sent. */
  "CB-ITEMSNB"?: string
  /** Cartes Bancaires: the merchant's own risk score. Better sent. */
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
  /** When the order was placed; the time of the request when absent. */
  orderTimestamp?: string
  /** Brand for the screening. */
  brand?: string
  parameters?: RiskParameters
  /** Web site the order came from. */
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
  /** Its PIN. Used once, never stored. */
  pin?: string
  /** Who owns it. */
  holder?: string
  /** Words printed with it. */
  message?: string
  /** Occasion of the present. */
  type?: ("ANNIVERSARY" | "BIRTHDAY" | "CONGRATULATIONS" | "APRIL_FOOLS_DAY" | "EASTER" | "FATHERS_DAY" | "GRADUATION" | "HOLIDAY" | "SEASONS_GREETINGS" | "PASSOVER" | "KWANZAA" | "HALLOWEEN" | "MOTHERS_DAY" | "NEW_YEARS_DAY" | "BOSSES_DAY" | "ST_PATRICKS_DAY" | "SWEETEST_DAY" | "CHRISTMAS" | "BABY_SHOWER" | "THANKSGIVING" | "OTHER" | "VALENTINES_DAY" | "WEDDING" | "SECRETARYS_DAY" | "CHINESE_NEW_YEAR" | "HANUKKAH" | "CELEBRATE_FALL" | "GRANDPARENTS_DAY" | "INDEPENDENCE_DAY")
}

export interface PaymentsFollowUpRequest {
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount?: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency?: string
  /** Brand of the payment method. May be left out where the card number tells it. */
  paymentBrand?: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Kept for reports, not sent on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL says that no further follow-up of this type comes. */
  sequence?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, as far as the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries demand it for account funding and original credits. */
  transactionPurposeCode?: string
  /** How the merchant is integrated. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Ties an authorisation to its increases, reversals and captures. */
  lifecycleId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  customer?: Customer
  billing?: Billing
  merchant?: MerchantOfPaymentsFollowUp
  cart?: Cart
  marketPlace?: MarketPlace
  airline?: Airline
  standingInstruction?: StandingInstruction
  customParameters?: CustomParameters
  /** Where the shopper goes afterwards; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Gets a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  /** Acquirer's reason of the chargeback. */
  chargebackResultCode?: string
}

export interface MerchantOfPaymentsFollowUp {
  /** Name on the statement, often business name, asterisk, product. Goes before descriptor. */
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
  /** Town where the service is given. */
  serviceLocationCity?: string
  /** State where the service is given. */
  serviceLocationState?: string
  /** Country where the service is given. */
  serviceLocationCountryCode?: string
  /** Postal code where the service is given. */
  serviceLocationPostCode?: string
  /** Latitude and longitude where the service is given. */
  serviceLocationGeographicCoordinates?: string
  /** Further way to reach the merchant. */
  additionalContact?: string
  /** Phone number. */
  phone?: string
  /** Phone number that shoppers call. */
  customerContactPhone?: string
  /** Identifier of the web site. */
  websiteId?: string
  /** Address of the web site. */
  url?: string
  /** Code of the partner that brought the merchant. */
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
  /** Marks a marketplace sale by a retailer abroad. */
  foreignRetailIndicator?: string
  /** Registered name. */
  legalName?: string
  app?: MerchantApp
}

export interface PaymentsGetRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface PaymentsStepsRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface RegistrationsCreateRequest {
  /** Brand of the payment method. May be left out where the card number tells it. */
  paymentBrand?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Kept for reports, not sent on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Language and country, as far as the connector supports them. */
  locale?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  card?: Card
  virtualAccount?: VirtualAccount
  bankAccount?: BankAccount
  tokenAccount?: TokenAccountOfRegistrationsCreate
  customer?: Customer
  billing?: Billing
  recurringMigration?: RecurringMigration
  standingInstruction?: StandingInstruction
  customParameters?: CustomParameters
  /** Where the shopper goes afterwards; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Gets a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  /** Id of the test clock that the new resource lives on. */
  testClock?: string
}

export interface TokenAccountOfRegistrationsCreate {
  /** The token, shaped like a card number. */
  number: string
  /** Who issued the token: a card network or somebody else. */
  type: ("EXTERNAL" | "NETWORK")
  /** Expiry month of the token, two digits. */
  expiryMonth?: string
  /** Expiry year of the token, four digits. */
  expiryYear?: string
}

export interface RegistrationsPayRequest {
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount: string
  /** Tax contained in the amount. */
  taxAmount?: string
  /** Discount on the whole invoice, for level-3 card data. */
  discountAmount?: string
  /** Currency of the amount. */
  currency: string
  /** Brand of the payment method. May be left out where the card number tells it. */
  paymentBrand?: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Kept for reports, not sent on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** FINAL says that no further follow-up of this type comes. */
  sequence?: string
  /** How many partial captures there may be at most. */
  numberOfCaptures?: string
  /** Promotion code of the order. */
  promotionCode?: string
  /** Language and country, as far as the connector supports them. */
  locale?: string
  /** Purpose of the payment. Some countries demand it for account funding and original credits. */
  transactionPurposeCode?: string
  /** How the merchant is integrated. */
  integrationType?: string
  /** Business application identifier of a push payment. */
  transactionBai?: string
  /** Transaction type identifier of a card network send service. */
  transactionTti?: string
  /** Purchase, account funding, or original credit. */
  transactionProcessingCode?: ("PURCHASE" | "FUNDING" | "PAYMENT")
  /** Ties an authorisation to its increases, reversals and captures. */
  lifecycleId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  forex?: Forex
  card?: CardOfRegistrationsPay
  bankAccount?: BankAccountOfRegistrationsPay
  /** When a direct debit is to be collected. Not used for risk checks. */
  transactionDueDate?: string
  tokenAccount?: TokenAccountOfRegistrationsPay
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
  /** Lets a holder in this request fill an empty one of the registration, for this payment only. */
  overrideHolder?: boolean | 'true' | 'false'
  standingInstruction?: StandingInstruction
  threeDSecure?: ThreeDSecure
  customParameters?: CustomParameters
  /** Where the shopper goes afterwards; id and resourcePath are added to its query. */
  shopperResultUrl?: string
  /**
   * @deprecated
   * Gets a GET with id and resourcePath. Use webhooks instead.
   */
  notificationUrl?: string
  risk?: Risk
  /** Id of the test clock that the new resource lives on. */
  testClock?: string
}

export interface CardOfRegistrationsPay {
  /** Name as printed on the card. */
  holder?: string
  /** Security code. Used once, never stored. */
  cvv?: string
}

export interface BankAccountOfRegistrationsPay {
  /** Who owns the account. */
  holder?: string
  mandate?: BankAccountMandate
}

export interface TokenAccountOfRegistrationsPay {
  /** Base64 proof that this token may be used now. Used once. */
  cryptogram?: string
  /** Dynamic security code of the token. Used once. */
  dtvc?: string
}

export interface RegistrationsUpdateRequest {
  /** Brand of the payment method. May be left out where the card number tells it. */
  paymentBrand?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Kept for reports, not sent on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Language and country, as far as the connector supports them. */
  locale?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  card?: CardOfRegistrationsUpdate
  bankAccount?: BankAccountOfRegistrationsUpdate
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

export interface BankAccountOfRegistrationsUpdate {
  /** Who owns the account. */
  holder?: string
  mandate?: BankAccountMandate
}

export interface TokenAccountOfRegistrationsUpdate {
  /** Expiry month of the token, two digits. */
  expiryMonth?: string
  /** Expiry year of the token, four digits. */
  expiryYear?: string
}

export interface RegistrationsGetRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface RegistrationsExtendRequest {
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Kept for reports, not sent on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** Language and country, as far as the connector supports them. */
  locale?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
}

export interface RegistrationsRemoveRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface RegistrationsStepsRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface SchedulesCreateRequest {
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount: string
  /** Currency of the amount. */
  currency: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Invoice number of the merchant. Kept for reports, not sent on. */
  merchantInvoiceId?: string
  /** Note for reports. */
  merchantMemo?: string
  /** Sales channel or other category. */
  transactionCategory?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** Stored instrument that the schedule charges. */
  registrationId: string
  job?: Job
  standingInstruction?: StandingInstruction
  customParameters?: CustomParameters
  /** Id of the test clock that the new resource lives on. */
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
  /** First moment at which it may run, in the schedule's time zone. */
  startDate?: string
  /** Last moment at which it may run, in the schedule's time zone. */
  endDate?: string
  /** Unit of the notice of cancellation. */
  noticeUnit?: ("YEAR" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND")
  /** How many of those units before the end of a period notice must be given. */
  noticeNumber?: string
  /** Whether notice counts from now or towards the end of a period. */
  noticeCallable?: ("ANYTIME" | "DURATION_END")
  /** Unit of the period. */
  durationUnit?: ("YEAR" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND")
  /** How many of those units a period lasts. */
  durationNumber?: string
  /** Second, minute, hour, day of month, month, day of week and, if wanted, year in one string. Replaces those fields. */
  expression?: string
}

export interface SchedulesPreviewRequest {
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  job?: Job
  /** Id of the test clock that the new resource lives on. */
  testClock?: string
}

export interface SchedulesListRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Stored instrument that the schedule charges. */
  registrationId: string
  /** How many entries one answer holds at most. */
  limit?: string
  /** Continues where nextCursor of the answer before points. */
  cursor?: string
}

export interface SchedulesGetRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface SchedulesExecutionsRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** How many entries one answer holds at most. */
  limit?: string
  /** Continues where nextCursor of the answer before points. */
  cursor?: string
}

export interface SchedulesRescheduleRequest {
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  job?: Job
}

export interface SchedulesRemoveRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface QuerySearchRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Reference of the merchant. Goes without a time frame. */
  merchantTransactionId?: string
  /** How many payments one answer holds at most. */
  limit?: string
  date?: Date
  /** Payment types to find, comma-separated. */
  paymentTypes?: string
  /** Payment methods to find, comma-separated. */
  paymentMethods?: string
  /** Also gives the payments linked to those found. */
  includeLinkedTransactions?: boolean | 'true' | 'false'
  /** Short number of one payment. */
  shortId?: string
  /** Continues where nextCursor of the answer before points. */
  cursor?: string
  /** Which page to give; deeper ones by cursor. */
  pageNo?: string
}

export interface Date {
  /** Begin of the time frame, UTC. */
  from?: string
  /** End of the time frame, UTC. */
  to?: string
}

export interface QueryGetRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Also gives the payments linked to those found. */
  includeLinkedTransactions?: boolean | 'true' | 'false'
}

export interface SchedulesStepsRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface EventsListRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Which notifications, comma-separated; all of them when absent. */
  types?: string
  /** Begins with what happened at this moment, UTC, or with what happens from now on. From the first event on when neither this nor a cursor is sent. */
  since?: string
  /** How many seconds an answer without events may be kept back for some to come. */
  wait?: string
  /** How many entries one answer holds at most. */
  limit?: string
  /** Continues where nextCursor of the answer before points. */
  cursor?: string
}

export interface EventsGetRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface TestClocksCreateRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Label of the clock, for people. */
  name?: string
  /** Where it stands at first, UTC; the present when absent. */
  time?: string
}

export interface TestClocksListRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface TestClocksGetRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface TestClocksAdvanceRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Moment to go to, UTC. */
  to?: string
  /** How far to go, as an ISO 8601 duration by the calendar: P1M is a month. */
  by?: string
}

export interface WebhooksCreateRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Where notifications go. Required when the endpoint is made. */
  url: string
  /** Which notifications, comma-separated. */
  types?: string
  /** TEXT sends bare hex, JSON an object around it, NONE the body unencrypted. */
  wrapper?: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active?: boolean | 'true' | 'false'
}

export interface WebhooksListRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Whether those that were removed are listed as well. */
  removed?: boolean | 'true' | 'false'
  /** How many entries one answer holds at most. */
  limit?: string
  /** Continues where nextCursor of the answer before points. */
  cursor?: string
}

export interface WebhooksGetRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface WebhooksUpdateRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Where notifications go. Required when the endpoint is made. */
  url?: string
  /** Which notifications, comma-separated. */
  types?: string
  /** TEXT sends bare hex, JSON an object around it, NONE the body unencrypted. */
  wrapper?: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active?: boolean | 'true' | 'false'
}

export interface WebhooksRemoveRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface WebhooksRotateRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** The signing secret, or the encryption key. The one before is good for another day. */
  key?: ("SIGNING" | "ENCRYPTION")
}

export interface WebhooksTestRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
}

export interface WebhooksReplayRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** One event. */
  eventId?: string
  /** First moment of a range of events, UTC. */
  from?: string
  /** Last moment of it, UTC; the present when absent. */
  until?: string
  /** DEAD: only what was given up. */
  which?: ("ALL" | "DEAD")
}

export interface WebhooksDeliveriesRequest {
  /** Channel that the request is for, or its merchant when channels are dispatched. */
  entityId?: string
  /** EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator. */
  testMode?: ("EXTERNAL" | "INTERNAL")
  /** Only notifications in this state; DEAD ones were given up. */
  state?: ("PENDING" | "DELIVERED" | "DEAD")
  /** How many entries one answer holds at most. */
  limit?: string
  /** Continues where nextCursor of the answer before points. */
  cursor?: string
}

export type ResultCodesListRequest = Record<string, never>

export type ConnectorsEventRequest = Record<string, never>

export type HealthLiveRequest = Record<string, never>

export type HealthReadyRequest = Record<string, never>

export type OpenapiGetRequest = Record<string, never>

export type ReferenceGetRequest = Record<string, never>

export interface PaymentsCreateAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
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
  /** When a direct debit is to be collected. Not used for risk checks. */
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
}

export interface ResultAnswer {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  /** Address check: A address, Z postal code, F both match, N neither, U not known. */
  avsResponse?: ("A" | "Z" | "N" | "U" | "F")
  /** Acquirer's answer about the security code. */
  cvvResponse?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface ResultParameterErrorAnswer {
  /** Field that is wrong. */
  name?: string
  /** What was sent; only for fields that everybody may see. */
  value?: string
  /** What would be right. */
  message?: string
}

export interface ResultDetailsAnswer {
  /** The acquirer's own code. */
  AcquirerResponse?: string
  /** Advice of the scheme after a decline, where the connector has it. */
  MerchantAdviceCode?: string
  /** The acquirer's own words, by name. */
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
  /** Credit, debit and the like. */
  type?: string
  /** Product level of the card. */
  level?: string
  /** Whether interchange of the card is regulated. */
  regulatedFlag?: string
}

export interface CardIssuerAnswer {
  /** Bank that issued the card. */
  bank?: string
  /** Phone number of that bank. */
  phone?: string
  /** Web site of that bank. */
  website?: string
}

export interface BankAccountAnswer {
  /** Last four characters of IBAN or account number. */
  last4Digits?: string
  /** Who owns the account. */
  holder?: string
  /** Name of the bank. */
  bankName?: string
  /** Domestic code of the bank. */
  bankCode?: string
  /** International code of the bank. */
  bic?: string
  /** Where the account is kept. */
  country?: string
  mandate?: BankAccountMandateAnswer
}

export interface BankAccountMandateAnswer {
  /** Direct-debit mandate. Not used for risk checks. */
  id?: string
  /** When the mandate was signed. Not used for risk checks. */
  dateOfSignature?: string
}

export interface TokenAccountAnswer {
  /** Last four digits of the token. */
  last4Digits?: string
  /** Who issued the token: a card network or somebody else. */
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
  /** Name on the statement, often business name, asterisk, product. Goes before descriptor. */
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
  /** Town where the service is given. */
  serviceLocationCity?: string
  /** State where the service is given. */
  serviceLocationState?: string
  /** Country where the service is given. */
  serviceLocationCountryCode?: string
  /** Postal code where the service is given. */
  serviceLocationPostCode?: string
  /** Latitude and longitude where the service is given. */
  serviceLocationGeographicCoordinates?: string
  /** Further way to reach the merchant. */
  additionalContact?: string
  /** Phone number. */
  phone?: string
  /** Phone number that shoppers call. */
  customerContactPhone?: string
  /** Identifier of the web site. */
  websiteId?: string
  /** Address of the web site. */
  url?: string
  /** Code of the partner that brought the merchant. */
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
  /** Marks a marketplace sale by a retailer abroad. */
  foreignRetailIndicator?: string
  /** Registered name. */
  legalName?: string
  app?: MerchantAppAnswer
}

export interface MerchantBankAccountAnswer {
  /** Who the shopper must transfer to. */
  holder: string
  /** Account to transfer to, an IBAN for SEPA. */
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
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and the shopper agreed to its normalized form. */
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
  /** How the goods are delivered. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery; part of the amount already. */
  cost?: string
  /** Words for the delivery. */
  comment?: string
  /** When the delivery should arrive. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's number of the parcel. */
  trackingNumber?: string
  /** The carrier's number of the returned parcel. */
  returnTrackingNumber?: string
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse that the goods leave from. */
  warehouse?: string
  /** Which delivery address a payment method should use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the receiver. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the receiver. */
  phone?: string
  /** Mobile number of the receiver. */
  mobile?: string
  /** Phone number of the receiver at work. */
  workPhone?: string
  /** E-mail address of the receiver. */
  email?: string
  /** Delivery to the shopper, or back from them. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface MerchantDataAnswer {
  /** Further data of the merchant, by name. */
  [k: string]: string | undefined
}

export interface MerchantAppAnswer {
  /** Custom URL scheme that brings the shopper back into the merchant's app. */
  schemeUrl?: string
}

export interface RiskAnswer {
  /** Sum of the risk checks, -99999 to 99999. */
  score?: string
}

export interface RegistrationAnswer {
  /** The same as registrationId. */
  id?: string
}

export interface ForexAnswer {
  /** Amount in the foreign currency. */
  amount?: string
  /** The foreign currency. */
  currency?: string
}

export interface ApplePayAnswer {
  /** Card network as the wallet reported it. */
  cardNetwork?: string
  /** Kind of card as the wallet reported it: debit, credit, prepaid, store. */
  cardType?: string
}

export interface VirtualAccountAnswer {
  /** The shopper's account there, often an e-mail address. */
  accountId?: string
}

export interface CustomerAnswer {
  /** The merchant's own number for the shopper. */
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
  /** Phone number; some risk checks want one. */
  phone?: string
  /** Mobile number; some risk checks want one. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and to send direct-debit mandates. */
  email?: string
  /** Company the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types demand one. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Reference of the payer that the payee is to see. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper already. */
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
  /** How the goods are delivered. */
  method?: ("CARRIER_DESIGNATED_BY_CUSTOMER" | "ELECTRONIC_DELIVERY" | "EXPEDITED" | "GROUND" | "INTERNATIONAL" | "LOWEST_COST" | "MILITARY" | "NEXT_DAY_OVERNIGHT" | "OTHER" | "POINT_PICKUP" | "PUDO" | "SAME_DAY_SERVICE" | "STORE_PICKUP" | "THREE_DAY_SERVICE" | "TWO_DAY_SERVICE")
  /** Price of the delivery; part of the amount already. */
  cost?: string
  /** Words for the delivery. */
  comment?: string
  /** When the delivery should arrive. */
  expectedDate?: string
  /** Carrier. */
  logisticsProvider?: string
  /** The carrier's number of the parcel. */
  trackingNumber?: string
  /** The carrier's number of the returned parcel. */
  returnTrackingNumber?: string
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and confirmed. */
  validationStatus?: string
  /** Warehouse that the goods leave from. */
  warehouse?: string
  /** Which delivery address a payment method should use. */
  preference?: ("GET_FROM_FILE" | "NO_SHIPPING" | "SET_PROVIDED_ADDRESS")
  /** Middle name of the receiver. */
  middleName?: string
  /** Company at that address. */
  companyName?: string
  /** Phone number of the receiver. */
  phone?: string
  /** Mobile number of the receiver. */
  mobile?: string
  /** Phone number of the receiver at work. */
  workPhone?: string
  /** E-mail address of the receiver. */
  email?: string
  /** Delivery to the shopper, or back from them. */
  type?: ("RETURN" | "SHIPMENT")
}

export interface ShippingCustomerAnswer {
  /** The merchant's own number for the shopper. */
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
  /** Phone number; some risk checks want one. */
  phone?: string
  /** Mobile number; some risk checks want one. */
  mobile?: string
  /** Phone number at work. */
  workPhone?: string
  /** E-mail address, for risk checks and to send direct-debit mandates. */
  email?: string
  /** Company the shopper acts for. */
  companyName?: string
  /** Kind of identity document. Some payment types demand one. */
  identificationDocType?: ("IDCARD" | "PASSPORT" | "TAXSTATEMENT")
  /** Number of that document. */
  identificationDocId?: string
  /** Internet address of the shopper's device. */
  ip?: string
  /** Reference of the payer that the payee is to see. */
  merchantReference?: string
  /** Form of address. */
  salutation?: ("MR" | "MRS" | "MS" | "MX")
  /** Preferred language. */
  language?: string
  /** Private person or company. */
  category?: ("INDIVIDUAL" | "COMPANY")
  /** Whether the merchant knows the shopper already. */
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
  /** The address in the form that an address check gave it. */
  normalized?: string
  /** Whether the address was checked and the shopper agreed to its normalized form. */
  validationStatus?: string
}

export interface CorporateAnswer {
  /** Name of the company. */
  name?: string
  /** What the company does. */
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
  /** What kind of number accountNumber is. */
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
  /** What kind of number accountNumber is. */
  accountNumberType?: ("OTHER" | "RTN_AND_BANK_ACCOUNT" | "IBAN" | "PHONE_NUMBER" | "BAN_AND_BIC" | "WALLET_ID" | "SOCIAL_NETWORK_ID")
}

export interface CartAnswer {
  items?: CartItemAnswer[]
  payments?: CartPaymentAnswer[]
}

export interface CartItemAnswer {
  /** Name of the article. */
  name?: string
  /** The merchant's own number of the article. */
  merchantItemId?: string
  /** Words about the article. */
  description?: string
  /** How many, or how much in quantityUnit. */
  quantity?: string
  /** What kind of article it is. */
  type?: ("PHYSICAL" | "DIGITAL" | "MIXED" | "ANONYMOUS_DONATION" | "AUTHORITIES_PAYMENT")
  /** Currency of the prices. */
  currency?: string
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
  /** Words that go with a present. */
  giftMessage?: string
  /** How the article is delivered. */
  shippingMethod?: string
  /** Words for the carrier. */
  shippingInstructions?: string
  /** The carrier's number of the parcel. */
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
  /** Page about the article. */
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
  /** When the article is delivered. */
  deliveryDate?: string
  recipient?: CartItemRecipientAnswer
}

export interface CartItemRecipientAnswer {
  /** Form of address of the receiver. */
  salutation?: string
  /** Given name of the receiver. */
  firstName?: string
  /** Middle name of the receiver. */
  middleName?: string
  /** Family name of the receiver. */
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
  /** Phone number of the receiver. */
  phone?: string
  /** E-mail address of the receiver. */
  email?: string
}

export interface CartPaymentAnswer {
  /** Name of the means. */
  name?: string
  /** Gift card or promotion. */
  type?: ("GIFTCARD" | "PROMOTION")
  /** What it pays. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** How far that payment got. */
  status?: ("pending" | "authorized" | "captured")
  /** Brand of the means. */
  brand?: string
  /** Whether it is the main one. */
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
  /** When the tickets were issued. */
  ticketIssueDate?: string
  /** Where the tickets were issued. */
  ticketIssueAddress?: string
  /** Whether somebody else booked. */
  thirdPartyBooking?: string
  /** Kind of booking. */
  bookingtype?: string
  /** How the tickets are handed over. */
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
  /** Where the passenger lives. */
  residenceCountry?: string
  /** Adult, child and the like. */
  type?: string
  /** Name of the passenger. */
  name?: string
  /** Whether the ticket is restricted. */
  ticketRestricted?: string
  /** Number of the ticket. */
  ticketNumber?: string
  /** Standing of the passenger with the airline. */
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
  /** Whether the journey may be broken here. */
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
  /** Ticket that this one replaces. */
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
  /** Booking class. */
  classOfService?: string
  /** Code of the carrier that flies. */
  carrierCode?: string
}

export interface StandingInstructionAnswer {
  /** Kind of agreement. */
  type?: ("UNSCHEDULED" | "INSTALLMENT" | "RECURRING")
  /** Kind of recurring payments the merchant starts. */
  recurringType?: ("STANDING_ORDER" | "SUBSCRIPTION")
  /** First payment of the agreement, or a later one. */
  mode?: ("INITIAL" | "REPEATED")
  /** Who started it: cardholder or merchant. */
  source?: ("CIT" | "MIT")
  /** Scheme's reference to the first payment. Sent by itself on later ones; a value of the merchant wins. */
  initialTransactionId?: string
  /** Why the merchant charges again. */
  industryPractice?: ("INCREMENTAL_AUTH" | "RESUBMISSION" | "REAUTHORIZATION" | "DELAYED_CHARGES" | "NO_SHOW")
  /** Last day of the agreement, for 3-D Secure. */
  expiry?: string
  /** Fewest days between two payments. */
  frequency?: string
  /** How many instalments there are at most. 3-D Secure needs it for type INSTALLMENT. */
  numberOfInstallments?: string
  /** Name of the agreement at one card network; replaces initialTransactionId there step by step. */
  agreementId?: string
}

export interface ThreeDSecureAnswer {
  /** Electronic commerce indicator. */
  eci?: string
  /** Authenticated, attempted, unavailable or not authenticated. */
  authenticationStatus?: ("Y" | "A" | "U" | "N")
  /** Directory server's number of the authentication. */
  dsTransactionId?: string
  /** Issuer's number of the authentication. */
  acsTransactionId?: string
  /** Version of the protocol. */
  version?: string
}

export interface CustomParametersAnswer {
  /** Value under a free name. Names from the shopper's browser begin with SHOPPER_. */
  [k: string]: string | undefined
}

export interface RedirectAnswer {
  /** Where to send the shopper. */
  url?: string
  /** How to send the shopper there. */
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
  /** Who asks for this hidden step before the redirect. */
  origin?: string
  /** What ends the wait for the step. */
  waitUntil?: string
  /** How the hidden frame is loaded. */
  method?: ("GET" | "POST")
  /** What the hidden frame loads. */
  url?: string
  parameters?: RedirectPreconditionParameterAnswer[]
}

export interface RedirectPreconditionParameterAnswer {
  /** Name of a form field of the step. */
  name?: string
  /** Value of that form field. */
  value?: string
}

export interface GiftCardAnswer {
  /** Who owns it. */
  holder?: string
  /** Words printed with it. */
  message?: string
  /** Occasion of the present. */
  type?: ("ANNIVERSARY" | "BIRTHDAY" | "CONGRATULATIONS" | "APRIL_FOOLS_DAY" | "EASTER" | "FATHERS_DAY" | "GRADUATION" | "HOLIDAY" | "SEASONS_GREETINGS" | "PASSOVER" | "KWANZAA" | "HALLOWEEN" | "MOTHERS_DAY" | "NEW_YEARS_DAY" | "BOSSES_DAY" | "ST_PATRICKS_DAY" | "SWEETEST_DAY" | "CHRISTMAS" | "BABY_SHOWER" | "THANKSGIVING" | "OTHER" | "VALENTINES_DAY" | "WEDDING" | "SECRETARYS_DAY" | "CHINESE_NEW_YEAR" | "HANUKKAH" | "CELEBRATE_FALL" | "GRANDPARENTS_DAY" | "INDEPENDENCE_DAY")
}

export interface PaymentsFollowUpAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
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
  /** When a direct debit is to be collected. Not used for risk checks. */
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
}

export interface PaymentsGetAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
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
  /** When a direct debit is to be collected. Not used for risk checks. */
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
}

export interface PaymentsStepsAnswer {
  result?: ResultAnswerOfPaymentsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  steps?: StepAnswer[]
}

export interface ResultAnswerOfPaymentsSteps {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface StepAnswer {
  /** Counts from 1 in the order of time. */
  number: number
  /** When it happened, or is due; UTC. */
  at: string
  /** An operation at the acquirer (debit, enquire, reverseByKey), accepted, settled, repeated, acquirer-event, attention, attention-resolved, decision, job, follow-up, execution, missed, changed, payment, schedule, notification or waits. */
  name: string
  /** The same for people. */
  text: string
  /** What came of it. */
  outcome?: string
  /** Id of another resource that it is about. */
  about?: string
  /** Who: engine, operator, or what settled a payment. */
  by?: string
  /** How long it took, in microseconds. */
  durationUs?: number
  sent?: StepSentAnswer
  answered?: StepAnsweredAnswer
  requests?: StepRequestAnswer[]
}

export interface StepSentAnswer {
  /** What was sent, by field name. Of values that belong to a person the class stands in their place. */
  [k: string]: string | undefined
}

export interface StepAnsweredAnswer {
  /** What the acquirer answered, by name. */
  [k: string]: string | undefined
}

export interface StepRequestAnswer {
  /** A request to the acquirer. */
  method?: string
  /** Where it went. */
  url?: string
  /** Whether it was one that moves money. */
  moves?: boolean
  /** Whether any byte of it left. */
  wroteBytes?: boolean
  /** Milliseconds after the beginning of the call. */
  startedMs?: number
  /** Milliseconds until it ended. */
  durationMs?: number
  /** HTTP status of the answer. */
  status?: number
  /** Why there was none. */
  error?: string
  sentHeaders?: StepRequestSentHeadersAnswer
  /** Size of its body. */
  sentBytes?: number
  /** The beginning of its body, without secrets, card numbers and personal data. */
  sentBody?: string
  answeredHeaders?: StepRequestAnsweredHeadersAnswer
  /** Size of its body. */
  answeredBytes?: number
  /** The beginning of its body, treated alike. */
  answeredBody?: string
}

export interface StepRequestSentHeadersAnswer {
  /** Harmless headers of the request. */
  [k: string]: string | undefined
}

export interface StepRequestAnsweredHeadersAnswer {
  /** Harmless headers of the answer. */
  [k: string]: string | undefined
}

export interface RegistrationsCreateAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** The same for the same account number within one installation; tells nothing about the number. */
  fingerprint?: string
  /** When it was stored. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsCreate
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** When a direct debit is to be collected. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface MerchantAnswerOfRegistrationsCreate {
  bankAccount?: MerchantBankAccountAnswer
}

export interface RegistrationsPayAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
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
  /** When a direct debit is to be collected. Not used for risk checks. */
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
}

export interface RegistrationsUpdateAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** The same for the same account number within one installation; tells nothing about the number. */
  fingerprint?: string
  /** When it was stored. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsUpdate
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** When a direct debit is to be collected. Not used for risk checks. */
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
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** The same for the same account number within one installation; tells nothing about the number. */
  fingerprint?: string
  /** When it was stored. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsGet
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** When a direct debit is to be collected. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface MerchantAnswerOfRegistrationsGet {
  bankAccount?: MerchantBankAccountAnswer
}

export interface RegistrationsExtendAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** The same for the same account number within one installation; tells nothing about the number. */
  fingerprint?: string
  /** When it was stored. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsExtend
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** When a direct debit is to be collected. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface MerchantAnswerOfRegistrationsExtend {
  bankAccount?: MerchantBankAccountAnswer
}

export interface RegistrationsRemoveAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** The same for the same account number within one installation; tells nothing about the number. */
  fingerprint?: string
  /** When it was stored. */
  createdAt?: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
  resultDetails?: ResultDetailsAnswer
  card?: CardAnswer
  bankAccount?: BankAccountAnswer
  tokenAccount?: TokenAccountAnswer
  merchant?: MerchantAnswerOfRegistrationsRemove
  risk?: RiskAnswer
  registration?: RegistrationAnswer
  virtualAccount?: VirtualAccountAnswer
  /** When a direct debit is to be collected. Not used for risk checks. */
  transactionDueDate?: string
  customer?: CustomerAnswer
  billing?: BillingAnswer
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface MerchantAnswerOfRegistrationsRemove {
  bankAccount?: MerchantBankAccountAnswer
}

export interface RegistrationsStepsAnswer {
  result?: ResultAnswerOfRegistrationsSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  steps?: StepAnswer[]
}

export interface ResultAnswerOfRegistrationsSteps {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface SchedulesCreateAnswer {
  result?: ResultAnswerOfSchedulesCreate
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the schedule. */
  id: string
  job?: JobAnswer
  /** Items: The next moments at which it runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** When a cancellation takes effect. */
  effectiveDate?: string
  /** Whether it runs on, was cancelled to a later moment, was cancelled, or has run out. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA zone in which its times are read. */
  timeZone?: string
  /** When it was created. */
  createdAt?: string
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount?: string
  /** Currency of the amount. */
  currency?: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType?: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface ResultAnswerOfSchedulesCreate {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface JobAnswer {
  /** First moment at which it may run, in milliseconds since 1970 UTC. */
  startDate?: string
  /** Last moment at which it may run, in milliseconds since 1970 UTC. */
  endDate?: string
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
  /** How many of those units before the end of a period notice must be given. */
  noticeNumber?: string
  /** Whether notice counts from now or towards the end of a period. */
  noticeCallable?: ("ANYTIME" | "DURATION_END")
  /** Unit of the period. */
  durationUnit?: ("YEAR" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND")
  /** How many of those units a period lasts. */
  durationNumber?: string
  /** Second, minute, hour, day of month, month, day of week and, if wanted, year in one string. Replaces those fields. */
  expression?: string
}

export interface SchedulesPreviewAnswer {
  result?: ResultAnswerOfSchedulesPreview
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the schedule. */
  id: string
  job?: JobAnswer
  /** Items: The next moments at which it runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** When a cancellation takes effect. */
  effectiveDate?: string
  /** Whether it runs on, was cancelled to a later moment, was cancelled, or has run out. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA zone in which its times are read. */
  timeZone?: string
  /** When it was created. */
  createdAt?: string
}

export interface ResultAnswerOfSchedulesPreview {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface SchedulesListAnswer {
  result?: ResultAnswerOfSchedulesList
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  schedules?: ScheduleAnswer[]
  executions?: ExecutionAnswer[]
  missed?: MissedAnswer[]
  /** Where the next page begins; absent on the last. */
  nextCursor?: string
}

export interface ResultAnswerOfSchedulesList {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface ScheduleAnswer {
  /** Schedules, newest first; each as when it is read by itself. */
  id?: string
}

export interface ExecutionAnswer {
  /** Executions, newest first. */
  id?: string
  /** The moment that it is for. */
  scheduledAt?: string
  /** DUE: not charged yet. FAILED: no payment could be made. Otherwise the state of its payment. */
  state?: ("DUE" | "FAILED" | "PROCESSING" | "PENDING" | "APPROVED" | "DECLINED" | "UNKNOWN" | "EXPIRED")
  /** The payment of it; the last one when a declined one was repeated. */
  paymentId?: string
  /** How many payments were made for it. */
  attempts?: number
  result?: ExecutionResultAnswer
}

export interface ExecutionResultAnswer {
  /** Result of it. */
  code?: string
  /** The same in words. */
  description?: string
}

export interface MissedAnswer {
  /** First of a number of moments that passed uncharged. */
  from?: string
  /** Last of them. */
  to?: string
  /** How many there were. */
  count?: string
}

export interface SchedulesGetAnswer {
  result?: ResultAnswerOfSchedulesGet
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the schedule. */
  id: string
  job?: JobAnswer
  /** Items: The next moments at which it runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** When a cancellation takes effect. */
  effectiveDate?: string
  /** Whether it runs on, was cancelled to a later moment, was cancelled, or has run out. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA zone in which its times are read. */
  timeZone?: string
  /** When it was created. */
  createdAt?: string
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount?: string
  /** Currency of the amount. */
  currency?: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType?: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface ResultAnswerOfSchedulesGet {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface SchedulesExecutionsAnswer {
  result?: ResultAnswerOfSchedulesExecutions
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  schedules?: ScheduleAnswer[]
  executions?: ExecutionAnswer[]
  missed?: MissedAnswer[]
  /** Where the next page begins; absent on the last. */
  nextCursor?: string
}

export interface ResultAnswerOfSchedulesExecutions {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface SchedulesRescheduleAnswer {
  result?: ResultAnswerOfSchedulesReschedule
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the schedule. */
  id: string
  job?: JobAnswer
  /** Items: The next moments at which it runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** When a cancellation takes effect. */
  effectiveDate?: string
  /** Whether it runs on, was cancelled to a later moment, was cancelled, or has run out. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA zone in which its times are read. */
  timeZone?: string
  /** When it was created. */
  createdAt?: string
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount?: string
  /** Currency of the amount. */
  currency?: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType?: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface ResultAnswerOfSchedulesReschedule {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface SchedulesRemoveAnswer {
  result?: ResultAnswerOfSchedulesRemove
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the schedule. */
  id: string
  job?: JobAnswer
  /** Items: The next moments at which it runs, five at most, in UTC. */
  nextExecutions?: string[]
  /** When a cancellation takes effect. */
  effectiveDate?: string
  /** Whether it runs on, was cancelled to a later moment, was cancelled, or has run out. */
  state?: ("WAITING" | "ENDING" | "CANCELLED" | "ENDED")
  /** IANA zone in which its times are read. */
  timeZone?: string
  /** When it was created. */
  createdAt?: string
  /** What is charged, tax and shipping included. No other amount moves money. */
  amount?: string
  /** Currency of the amount. */
  currency?: string
  /** What to do: PA, DB, CD and so on; PA.CP does two steps in one request. */
  paymentType?: string
  /** Text on the statement, whole or in part, as the merchant account allows. */
  descriptor?: string
  /** Reference of the merchant, best unique; used to reconcile. */
  merchantTransactionId?: string
  /** Stored instrument that the schedule charges. */
  registrationId?: string
  standingInstruction?: StandingInstructionAnswer
  customParameters?: CustomParametersAnswer
}

export interface ResultAnswerOfSchedulesRemove {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface QuerySearchAnswer {
  result?: ResultAnswerOfQuerySearch
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  payments?: PaymentAnswer[]
  records?: RecordAnswer[]
  /** How many pages there are, at most 100 (version 3, without cursor). */
  pages?: number
  /** Where the next page begins; absent on the last. */
  nextCursor?: string
}

export interface ResultAnswerOfQuerySearch {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface PaymentAnswer {
  /** Payments found, newest first (version 1). */
  id?: string
}

export interface RecordAnswer {
  /** Payments found, newest first (version 3). */
  id?: string
}

export interface QueryGetAnswer {
  /** Id of the payment or registration; of the request where no resource exists yet. */
  id: string
  /** Short number of the payment, for people. */
  shortId?: string
  /** Payment that a follow-up refers to. */
  referencedId?: string
  /** Brand that was used. */
  paymentBrand?: string
  /** Payment type of this record. */
  paymentType?: string
  /** Amount that was approved. */
  amount?: string
  /** Currency of that amount. */
  currency?: string
  /** Text on the statement. */
  descriptor?: string
  /** Reference that the merchant sent. */
  merchantTransactionId?: string
  /** Registration that was made or used. */
  registrationId?: string
  /** Items: Payment types of the follow-ups that are possible now. */
  nextActions?: string[]
  /** True when nothing reached the acquirer, so that the request may be sent again. */
  retrySafe?: boolean
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Brand that was recognised from the number. */
  brandResult?: string
  result?: ResultAnswer
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
  /** When a direct debit is to be collected. Not used for risk checks. */
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
  payments?: PaymentAnswer[]
  records?: RecordAnswer[]
  /** How many pages there are, at most 100 (version 3, without cursor). */
  pages?: number
  /** Where the next page begins; absent on the last. */
  nextCursor?: string
}

export interface SchedulesStepsAnswer {
  result?: ResultAnswerOfSchedulesSteps
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  steps?: StepAnswer[]
}

export interface ResultAnswerOfSchedulesSteps {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface EventsListAnswer {
  result?: ResultAnswerOfEventsList
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  events?: EventAnswer[]
  /** Where to go on, also when nothing is there yet. */
  nextCursor: string
  /** Whether more is there already. */
  more: boolean
}

export interface ResultAnswerOfEventsList {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface EventAnswer {
  /** Notifications, oldest first; each as when it is read by itself. */
  id?: string
  /** Counts the events of the resource. */
  sequence?: number
  /** When it was stored. */
  at?: string
  /** What changed. */
  type?: ("PAYMENT" | "REGISTRATION" | "SCHEDULE" | "RISK")
  /** What became of it; absent for payments. */
  action?: ("CREATED" | "UPDATED" | "DELETED")
  payload?: EventPayloadAnswer
}

export interface EventPayloadAnswer {
  /** Id of the resource; the rest of the payload is its usual answer. */
  id?: string
}

export interface EventsGetAnswer {
  result?: ResultAnswerOfEventsGet
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the notification, as in webhook-id. */
  id: string
  /** Counts the events of the resource, as webhook-sequence does. */
  sequence: number
  /** When it was stored. */
  at: string
  /** What changed. */
  type: ("PAYMENT" | "REGISTRATION" | "SCHEDULE" | "RISK")
  /** What became of it; absent for payments. */
  action?: ("CREATED" | "UPDATED" | "DELETED")
  payload?: PayloadAnswer
}

export interface ResultAnswerOfEventsGet {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface PayloadAnswer {
  /** Id of the resource; the rest of the payload is its usual answer. */
  id: string
}

export interface TestClocksCreateAnswer {
  result?: ResultAnswerOfTestClocksCreate
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the clock: what testClock takes. */
  id: string
  /** ADVANCING: what is due on the way is being done. */
  status?: ("READY" | "ADVANCING")
  /** Where it stands. */
  now?: string
  /** Where it is going. */
  target?: string
  /** How much of the way lies behind it, in percent. */
  progress?: number
  clocks?: ClockAnswer[]
  /** Label of the clock, for people. */
  name?: string
}

export interface ResultAnswerOfTestClocksCreate {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface ClockAnswer {
  /** Clocks of the entity, newest first. */
  id?: string
}

export interface TestClocksListAnswer {
  result?: ResultAnswerOfTestClocksList
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the clock: what testClock takes. */
  id: string
  /** ADVANCING: what is due on the way is being done. */
  status?: ("READY" | "ADVANCING")
  /** Where it stands. */
  now?: string
  /** Where it is going. */
  target?: string
  /** How much of the way lies behind it, in percent. */
  progress?: number
  clocks?: ClockAnswer[]
}

export interface ResultAnswerOfTestClocksList {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface TestClocksGetAnswer {
  result?: ResultAnswerOfTestClocksGet
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the clock: what testClock takes. */
  id: string
  /** ADVANCING: what is due on the way is being done. */
  status?: ("READY" | "ADVANCING")
  /** Where it stands. */
  now?: string
  /** Where it is going. */
  target?: string
  /** How much of the way lies behind it, in percent. */
  progress?: number
  clocks?: ClockAnswer[]
  /** Label of the clock, for people. */
  name?: string
}

export interface ResultAnswerOfTestClocksGet {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface TestClocksAdvanceAnswer {
  result?: ResultAnswerOfTestClocksAdvance
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the clock: what testClock takes. */
  id: string
  /** ADVANCING: what is due on the way is being done. */
  status?: ("READY" | "ADVANCING")
  /** Where it stands. */
  now?: string
  /** Where it is going. */
  target?: string
  /** How much of the way lies behind it, in percent. */
  progress?: number
  clocks?: ClockAnswer[]
  /** Label of the clock, for people. */
  name?: string
}

export interface ResultAnswerOfTestClocksAdvance {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksCreateAnswer {
  result?: ResultAnswerOfWebhooksCreate
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the endpoint. */
  id: string
  /** Where notifications go. */
  url: string
  /** Which notifications. */
  types: string
  /** How the body is wrapped. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean
  /** Key of the encryption. Shown once, when it is made. */
  encryptionKey?: string
  /** Secret of the signature. Shown once, when it is made. */
  signingSecret?: string
  /** When it was made. */
  createdAt?: string
  /** Until then the secret before the last rotation signs as well. */
  previousSecretUntil?: string
  /** Until then the encryption key before the last rotation may still be used: keep both, and try both. */
  previousKeyUntil?: string
  /** First of an unbroken row of failures. */
  failingSince?: string
  /** How many there were. */
  failures?: number
  /** When the gateway stopped sending. */
  disabledAt?: string
  /** Why it did. */
  disabledReason?: string
  /** When it was removed; its log can still be read. */
  removedAt?: string
}

export interface ResultAnswerOfWebhooksCreate {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksListAnswer {
  result?: ResultAnswerOfWebhooksList
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  webhooks?: WebhookAnswer[]
  /** Where the next page begins; absent on the last. */
  nextCursor?: string
}

export interface ResultAnswerOfWebhooksList {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhookAnswer {
  /** Endpoints, newest first; each as when it is read by itself. */
  id?: string
}

export interface WebhooksGetAnswer {
  result?: ResultAnswerOfWebhooksGet
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the endpoint. */
  id: string
  /** Where notifications go. */
  url: string
  /** Which notifications. */
  types: string
  /** How the body is wrapped. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean
  /** Key of the encryption. Shown once, when it is made. */
  encryptionKey?: string
  /** Secret of the signature. Shown once, when it is made. */
  signingSecret?: string
  /** When it was made. */
  createdAt?: string
  /** Until then the secret before the last rotation signs as well. */
  previousSecretUntil?: string
  /** Until then the encryption key before the last rotation may still be used: keep both, and try both. */
  previousKeyUntil?: string
  /** First of an unbroken row of failures. */
  failingSince?: string
  /** How many there were. */
  failures?: number
  /** When the gateway stopped sending. */
  disabledAt?: string
  /** Why it did. */
  disabledReason?: string
  /** When it was removed; its log can still be read. */
  removedAt?: string
}

export interface ResultAnswerOfWebhooksGet {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksUpdateAnswer {
  result?: ResultAnswerOfWebhooksUpdate
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the endpoint. */
  id: string
  /** Where notifications go. */
  url: string
  /** Which notifications. */
  types: string
  /** How the body is wrapped. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean
  /** Key of the encryption. Shown once, when it is made. */
  encryptionKey?: string
  /** Secret of the signature. Shown once, when it is made. */
  signingSecret?: string
  /** When it was made. */
  createdAt?: string
  /** Until then the secret before the last rotation signs as well. */
  previousSecretUntil?: string
  /** Until then the encryption key before the last rotation may still be used: keep both, and try both. */
  previousKeyUntil?: string
  /** First of an unbroken row of failures. */
  failingSince?: string
  /** How many there were. */
  failures?: number
  /** When the gateway stopped sending. */
  disabledAt?: string
  /** Why it did. */
  disabledReason?: string
  /** When it was removed; its log can still be read. */
  removedAt?: string
}

export interface ResultAnswerOfWebhooksUpdate {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksRemoveAnswer {
  result?: ResultAnswerOfWebhooksRemove
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the endpoint. */
  id: string
  /** Where notifications go. */
  url: string
  /** Which notifications. */
  types: string
  /** How the body is wrapped. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean
  /** Key of the encryption. Shown once, when it is made. */
  encryptionKey?: string
  /** Secret of the signature. Shown once, when it is made. */
  signingSecret?: string
  /** When it was made. */
  createdAt?: string
  /** Until then the secret before the last rotation signs as well. */
  previousSecretUntil?: string
  /** Until then the encryption key before the last rotation may still be used: keep both, and try both. */
  previousKeyUntil?: string
  /** First of an unbroken row of failures. */
  failingSince?: string
  /** How many there were. */
  failures?: number
  /** When the gateway stopped sending. */
  disabledAt?: string
  /** Why it did. */
  disabledReason?: string
  /** When it was removed; its log can still be read. */
  removedAt?: string
}

export interface ResultAnswerOfWebhooksRemove {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksRotateAnswer {
  result?: ResultAnswerOfWebhooksRotate
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Id of the endpoint. */
  id: string
  /** Where notifications go. */
  url: string
  /** Which notifications. */
  types: string
  /** How the body is wrapped. */
  wrapper: ("TEXT" | "JSON" | "NONE")
  /** Whether notifications are sent. */
  active: boolean
  /** Key of the encryption. Shown once, when it is made. */
  encryptionKey?: string
  /** Secret of the signature. Shown once, when it is made. */
  signingSecret?: string
  /** When it was made. */
  createdAt?: string
  /** Until then the secret before the last rotation signs as well. */
  previousSecretUntil?: string
  /** Until then the encryption key before the last rotation may still be used: keep both, and try both. */
  previousKeyUntil?: string
  /** First of an unbroken row of failures. */
  failingSince?: string
  /** How many there were. */
  failures?: number
  /** When the gateway stopped sending. */
  disabledAt?: string
  /** Why it did. */
  disabledReason?: string
  /** When it was removed; its log can still be read. */
  removedAt?: string
}

export interface ResultAnswerOfWebhooksRotate {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksTestAnswer {
  result?: ResultAnswerOfWebhooksTest
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Whether the endpoint took it. */
  delivered?: boolean
  /** Status of its answer. */
  httpStatus?: number
  /** Why there was none. */
  error?: string
  /** Begin of its answer, without secrets. */
  answer?: string
  /** How long it took. */
  durationMs?: number
  /** How many notifications are sent again. */
  replayed?: number
  /** Where to go on when the range held more than one request replays. */
  nextFrom?: string
}

export interface ResultAnswerOfWebhooksTest {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksReplayAnswer {
  result?: ResultAnswerOfWebhooksReplay
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  /** Whether the endpoint took it. */
  delivered?: boolean
  /** Status of its answer. */
  httpStatus?: number
  /** Why there was none. */
  error?: string
  /** Begin of its answer, without secrets. */
  answer?: string
  /** How long it took. */
  durationMs?: number
  /** How many notifications are sent again. */
  replayed?: number
  /** Where to go on when the range held more than one request replays. */
  nextFrom?: string
}

export interface ResultAnswerOfWebhooksReplay {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface WebhooksDeliveriesAnswer {
  result?: ResultAnswerOfWebhooksDeliveries
  /** Version of the gateway, for support. */
  buildNumber: string
  /** When the answer was made. */
  timestamp: string
  /** The gateway's own number of the request; of a checkout its id. */
  ndc: string
  deliveries?: DeliverieAnswer[]
  /** Where the next page begins; absent on the last. */
  nextCursor?: string
}

export interface ResultAnswerOfWebhooksDeliveries {
  /** Result code. */
  code: string
  /** The code in words. */
  description?: string
  parameterErrors?: ResultParameterErrorAnswer[]
}

export interface DeliverieAnswer {
  /** Notifications, newest first. */
  id?: string
  /** Event that it tells of. */
  eventId?: string
  /** What changed. */
  type?: ("PAYMENT" | "REGISTRATION" | "SCHEDULE" | "RISK" | "CALLBACK")
  /** Payment, registration or schedule. */
  resource?: string
  /** DEAD: given up. */
  state?: ("PENDING" | "DELIVERED" | "DEAD")
  /** Why it was given up. */
  reason?: string
  /** Whether it was sent again on request. */
  replay?: boolean
  /** When its event was. */
  createdAt?: string
  /** When it is tried again. */
  nextAttemptAt?: string
  attempts?: DeliverieAttemptAnswer[]
}

export interface DeliverieAttemptAnswer {
  /** One try. */
  at?: string
  /** How long it took. */
  durationMs?: number
  /** Status of the answer. */
  httpStatus?: number
  /** Why there was none. */
  error?: string
  /** Begin of the answer, without secrets. */
  answer?: string
}

export type ResultCodesListAnswer = Record<string, unknown>

export type ConnectorsEventAnswer = Record<string, unknown>

export type HealthLiveAnswer = Record<string, unknown>

export type HealthReadyAnswer = Record<string, unknown>

export type OpenapiGetAnswer = Record<string, unknown>

export type ReferenceGetAnswer = Record<string, unknown>

/** What an embedder sends, by operation. */
export interface Requests {
  'payments.create': PaymentsCreateRequest
  'payments.followUp': PaymentsFollowUpRequest
  'payments.get': PaymentsGetRequest
  'payments.steps': PaymentsStepsRequest
  'registrations.create': RegistrationsCreateRequest
  'registrations.pay': RegistrationsPayRequest
  'registrations.update': RegistrationsUpdateRequest
  'registrations.get': RegistrationsGetRequest
  'registrations.extend': RegistrationsExtendRequest
  'registrations.remove': RegistrationsRemoveRequest
  'registrations.steps': RegistrationsStepsRequest
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
  'resultCodes.list': ResultCodesListRequest
  'connectors.event': ConnectorsEventRequest
  'health.live': HealthLiveRequest
  'health.ready': HealthReadyRequest
  'openapi.get': OpenapiGetRequest
  'reference.get': ReferenceGetRequest
}

/** What comes back, by operation. */
export interface Answers {
  'payments.create': PaymentsCreateAnswer
  'payments.followUp': PaymentsFollowUpAnswer
  'payments.get': PaymentsGetAnswer
  'payments.steps': PaymentsStepsAnswer
  'registrations.create': RegistrationsCreateAnswer
  'registrations.pay': RegistrationsPayAnswer
  'registrations.update': RegistrationsUpdateAnswer
  'registrations.get': RegistrationsGetAnswer
  'registrations.extend': RegistrationsExtendAnswer
  'registrations.remove': RegistrationsRemoveAnswer
  'registrations.steps': RegistrationsStepsAnswer
  'schedules.create': SchedulesCreateAnswer
  'schedules.preview': SchedulesPreviewAnswer
  'schedules.list': SchedulesListAnswer
  'schedules.get': SchedulesGetAnswer
  'schedules.executions': SchedulesExecutionsAnswer
  'schedules.reschedule': SchedulesRescheduleAnswer
  'schedules.remove': SchedulesRemoveAnswer
  'query.search': QuerySearchAnswer
  'query.get': QueryGetAnswer
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
  'resultCodes.list': ResultCodesListAnswer
  'connectors.event': ConnectorsEventAnswer
  'health.live': HealthLiveAnswer
  'health.ready': HealthReadyAnswer
  'openapi.get': OpenapiGetAnswer
  'reference.get': ReferenceGetAnswer
}

export type OperationName = keyof Requests
