import { AN, amount, C, country, date, echoed, group, none, person, reference, together } from '../table.ts'

const order = group('airline', 'Airline order', [
  // name                  format   need direction class meaning
  ['totalTaxAmount',       amount,  C,   echoed, none, 'Taxes of the whole booking.'],
  ['totalFeesAmount',      amount,  C,   echoed, none, 'Fees of the whole booking.'],
  ['totalFareAmount',      amount,  C,   echoed, none, 'Fares of the whole booking.'],
  ['ticketIssueDate',      date,    C,   echoed, none, 'Date of issue of the tickets.'],
  ['ticketIssueAddress',   AN(255), C,   echoed, none, 'Place of issue of the tickets.'],
  ['thirdPartyBooking',    AN(255), C,   echoed, none, 'Whether the booking was made by a third party.'],
  ['bookingtype',          AN(255), C,   echoed, none, 'Kind of booking.'],
  ['ticketDeliveryMethod', AN(255), C,   echoed, none, 'Delivery of the tickets.'],
  ['bookingRefNum',        AN(255), C,   echoed, none, 'Booking reference.', reference],
  ['agentName',            AN(255), C,   echoed, none, 'Travel agency.'],
  ['agentCode',            AN(255), C,   echoed, none, 'Code of the agency.', reference],
])

const passengers = group('airline.passengers[n]', 'Airline passengers', [
  // name                 format   need direction class   meaning
  ['residenceCountry',    country, C,   echoed, none,   'Country of residence of the passenger.'],
  ['type',                AN(255), C,   echoed, none,   'Kind of passenger, such as adult or child.'],
  ['name',                AN(255), C,   echoed, person, 'Name of the passenger.'],
  ['ticketRestricted',    AN(255), C,   echoed, none,   'Whether the ticket is restricted.'],
  ['ticketNumber',        AN(255), C,   echoed, none,   'Number of the ticket.', reference],
  ['status',              AN(255), C,   echoed, none,   'Status of the passenger with the airline.'],
  ['phone',               AN(255), C,   echoed, person, 'Phone number.', reference],
  ['frequentFlyerNumber', AN(255), C,   echoed, person, 'Number in the frequent flyer programme.', reference],
  ['email',               AN(255), C,   echoed, person, 'E-mail address.'],
  ['dob',                 AN(255), C,   echoed, person, 'Day of birth.'],
  ['checkDigit',          AN(255), C,   echoed, none,   'Check digit of the ticket.', reference],
])

const legs = group('airline.passengers[n].legs[n]', 'Airline legs', [
  // name                format   need direction class meaning
  ['departureDate',      date,    C,   echoed, none, 'Day of departure.'],
  ['arrivalDate',        date,    C,   echoed, none, 'Day of arrival.'],
  ['timeToDeparture',    AN(10),  C,   echoed, none, 'Days from the booking to the departure.'],
  ['ticketNumber',       AN(255), C,   echoed, none, 'Ticket of this leg.', reference],
  ['taxAmount',          amount,  C,   echoed, none, 'Taxes of this leg.'],
  ['stopOverAllowed',    AN(255), C,   echoed, none, 'Whether a stopover is allowed.'],
  ['restrictions',       AN(255), C,   echoed, none, 'Restrictions of the fare.'],
  ['flightNumber',       AN(255), C,   echoed, none, 'Flight.', reference],
  ['feesAmount',         amount,  C,   echoed, none, 'Fees of this leg.'],
  ['fareBasis',          AN(255), C,   echoed, none, 'Fare basis code.'],
  ['fareAmount',         amount,  C,   echoed, none, 'Fare of this leg.'],
  ['exchangeTicketNum',  AN(255), C,   echoed, none, 'Ticket replaced by this one.', reference],
  ['departureTaxAmount', amount,  C,   echoed, none, 'Tax on the departure.'],
  ['departureCountry',   AN(255), C,   echoed, none, 'Country of departure.'],
  ['departureAirport',   AN(255), C,   echoed, none, 'Airport of departure.'],
  ['airlineName',        AN(255), C,   echoed, none, 'Airline.'],
  ['airlineCode',        AN(255), C,   echoed, none, 'Code of the airline.', reference],
  ['departureTime',      AN(255), C,   echoed, none, 'Time of departure.'],
  ['arrivalCountry',     AN(255), C,   echoed, none, 'Country of arrival.'],
  ['arrivalAirport',     AN(255), C,   echoed, none, 'Airport of arrival.'],
  ['arrivalTime',        AN(255), C,   echoed, none, 'Time of arrival.'],
  ['couponNumber',       AN(255), C,   echoed, none, 'Coupon of the ticket.', reference],
  ['classOfService',     AN(255), C,   echoed, none, 'Code of the operating carrier.'],
  ['carrierCode',        AN(255), C,   echoed, none, 'Code of the carrier that flies.', reference],
])

/** Tickets of a payment: the booking, its passengers, and every passenger's legs. */
export const airline = together('airline', 'Airline', [order, passengers, legs])
