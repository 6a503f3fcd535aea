// Made from the rules of the simulator by `npm run generate`. Not to be edited.
import type { TestData } from '../generate/test-data.ts'

export const testData: TestData = {
  "outcomes": [
    {
      "field": "`card.number`",
      "values": "`4200000000000000`, `4711100000000000`, `4111111111111111`",
      "result": "approved",
      "meaning": "VISA"
    },
    {
      "field": "`card.number`",
      "values": "`5454545454545454`, `5555555555554444`, `2223003122003222`",
      "result": "approved",
      "meaning": "MASTER"
    },
    {
      "field": "`card.number`",
      "values": "`377777777777770`, `378282246310005`",
      "result": "approved",
      "meaning": "AMEX"
    },
    {
      "field": "`card.number`",
      "values": "`36227206271667`, `30569309025904`",
      "result": "approved",
      "meaning": "DINERS"
    },
    {
      "field": "`card.number`",
      "values": "`6011111111111117`",
      "result": "approved",
      "meaning": "DISCOVER"
    },
    {
      "field": "`card.number`",
      "values": "`3530111333300000`",
      "result": "approved",
      "meaning": "JCB"
    },
    {
      "field": "`card.number`",
      "values": "`6200000000000005`, `6205500000000000004`",
      "result": "approved",
      "meaning": "UNIONPAY"
    },
    {
      "field": "`card.number`",
      "values": "`6759649826438453`",
      "result": "approved",
      "meaning": "MAESTRO"
    },
    {
      "field": "`card.holder`",
      "values": "a code of the group `pending-long`",
      "result": "pending with that code",
      "meaning": "stays pending with that code"
    },
    {
      "field": "`card.holder`",
      "values": "`900.100.600`",
      "result": "declined with `900.100.600`",
      "meaning": "the acquirer is unavailable; not charged, safe to repeat"
    },
    {
      "field": "`card.holder`",
      "values": "any other result code that does not begin with `000`",
      "result": "declined with that code",
      "meaning": "nothing is charged, not even with codes for communication errors"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000000002`",
      "result": "declined with `800.100.152`",
      "meaning": "declined by the issuer"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000009995`",
      "result": "declined with `800.100.155`",
      "meaning": "amount exceeds credit"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000009987`",
      "result": "declined with `800.100.165`",
      "meaning": "lost card"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000009979`",
      "result": "declined with `800.100.159`",
      "meaning": "stolen card"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000000069`",
      "result": "declined with `800.100.157`",
      "meaning": "wrong expiry date"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000000127`",
      "result": "declined with `800.100.153`",
      "meaning": "invalid CVV"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000006975`",
      "result": "declined with `800.100.162`",
      "meaning": "limit exceeded"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000000119`",
      "result": "declined with `900.100.600`",
      "meaning": "the request never reaches the acquirer; not charged"
    },
    {
      "field": "`card.number`",
      "values": "`4100000000000019`",
      "result": "declined with `800.300.401`",
      "meaning": "blacklisted card"
    },
    {
      "field": "`card.number`",
      "values": "`4000002500003155`",
      "result": "declined with `300.100.100`, or approved if the request has 3-D Secure values",
      "meaning": "soft decline without 3-D Secure, approved after the step-up"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000000341`",
      "result": "unknown, `000.200.001`",
      "meaning": "charged, but the response is lost; only an enquiry finds the payment"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000000077`",
      "result": "pending for 30 s, then approved",
      "meaning": "pending for 30 seconds, then approved"
    },
    {
      "field": "`amount`",
      "values": "ends with `.87`",
      "result": "pending for 30 s, then declined with `800.100.152`",
      "meaning": "pending for 30 seconds, then declined"
    },
    {
      "field": "`amount`",
      "values": "ends with `.88`",
      "result": "approved",
      "meaning": "an event repeats the response"
    },
    {
      "field": "`amount`",
      "values": "ends with `.89`",
      "result": "approved",
      "meaning": "the event arrives before the response"
    },
    {
      "field": "checks before sending",
      "values": "expiry in the past",
      "result": "refused with `100.100.303`",
      "meaning": "the card is expired"
    },
    {
      "field": "checks before sending",
      "values": "card number with a wrong check digit",
      "result": "refused with `100.100.101`",
      "meaning": "not a card number"
    },
    {
      "field": "checks before sending",
      "values": "IBAN with a wrong check sum",
      "result": "refused with `100.100.101`",
      "meaning": "not an IBAN"
    },
    {
      "field": "`bankAccount.iban`",
      "values": "`DE89370400440532013000`",
      "result": "approved",
      "meaning": ""
    },
    {
      "field": "`bankAccount.iban`",
      "values": "`DE62370400440532013001`",
      "result": "declined with `800.100.203`",
      "meaning": "not enough money in the account"
    },
    {
      "field": "`bankAccount.iban`",
      "values": "`DE35370400440532013002`",
      "result": "approved",
      "meaning": ""
    },
    {
      "field": "`virtualAccount.accountId`",
      "values": "begins with `decline-`",
      "result": "declined with `800.100.195`",
      "meaning": "unknown user account"
    },
    {
      "field": "`paymentBrand`",
      "values": "`PAYPAL`, `IDEAL`, `SOFORTUEBERWEISUNG`",
      "result": "pending, `000.200.000`, with a `redirect`",
      "meaning": "the shopper is sent to the bank"
    },
    {
      "field": "`billing.postcode`",
      "values": "`11111`",
      "result": "`result.avsResponse` `A`",
      "meaning": "address matches, postcode does not"
    },
    {
      "field": "`billing.postcode`",
      "values": "`22222`",
      "result": "`result.avsResponse` `Z`",
      "meaning": "postcode matches, address does not"
    },
    {
      "field": "`billing.postcode`",
      "values": "`33333`",
      "result": "`result.avsResponse` `N`",
      "meaning": "neither matches"
    },
    {
      "field": "`billing.postcode`",
      "values": "`44444`",
      "result": "`result.avsResponse` `U`",
      "meaning": "could not be checked"
    },
    {
      "field": "`billing.postcode`",
      "values": "any other value",
      "result": "`result.avsResponse` `F`",
      "meaning": "both match"
    },
    {
      "field": "`card.cvv`",
      "values": "`200`",
      "result": "`result.cvvResponse` `N`",
      "meaning": "does not match"
    },
    {
      "field": "`card.cvv`",
      "values": "`201`",
      "result": "`result.cvvResponse` `U`",
      "meaning": "issuer cannot check it"
    },
    {
      "field": "`card.cvv`",
      "values": "`301`",
      "result": "`result.cvvResponse` `P`",
      "meaning": "was not processed"
    },
    {
      "field": "`card.cvv`",
      "values": "`302`",
      "result": "`result.cvvResponse` `S`",
      "meaning": "is on the card but was not sent"
    },
    {
      "field": "`card.cvv`",
      "values": "any other value",
      "result": "`result.cvvResponse` `M`",
      "meaning": "matches"
    },
    {
      "field": "`customParameters[SIM_DELAY_MS]`",
      "values": "a whole number",
      "result": "a delay of up to 60 s",
      "meaning": "delays the response by this number of milliseconds, at most a minute"
    },
    {
      "field": "`customParameters[SIM_DECLINE]`",
      "values": "a result code that is neither a success nor pending",
      "result": "declined with this code",
      "meaning": "also a capture, a refund or a reversal is declined with this code"
    },
    {
      "field": "`card.number`",
      "values": "`4000008400001629`",
      "result": "declined with `800.100.152`",
      "meaning": "challenge, then declined by the issuer"
    },
    {
      "field": "`card.number`",
      "values": "`4000008260003178`",
      "result": "declined with `800.100.155`",
      "meaning": "challenge, then amount exceeds credit"
    }
  ],
  "authentications": [
    {
      "field": "`card.number`",
      "values": "`4000002500003155`",
      "result": "a challenge",
      "meaning": "soft decline without 3-D Secure, approved after the step-up"
    },
    {
      "field": "`card.number`",
      "values": "`4200000000000091`, `4200000000000026`, `5200000000000007`, `5200000000000056`",
      "result": "status `Y`, eci `05` (VISA), `02` (MASTER)",
      "meaning": "frictionless, authenticated"
    },
    {
      "field": "`card.number`",
      "values": "`4200000000000109`, `4200000000000059`, `5200000000000023`, `5200000000000106`",
      "result": "status `A`, eci `06` (VISA), `01` (MASTER)",
      "meaning": "attempted"
    },
    {
      "field": "`card.number`",
      "values": "`4012001037461114`",
      "result": "status `U`, `100.390.112`",
      "meaning": "unavailable, no eci"
    },
    {
      "field": "`card.number`",
      "values": "`4012001037141112`",
      "result": "status `N`, `100.380.401`",
      "meaning": "refused"
    },
    {
      "field": "`card.number`",
      "values": "`4532497088771651`",
      "result": "status `U`, reason `13`; the payment continues without 3-D Secure",
      "meaning": "not participating"
    },
    {
      "field": "`card.number`",
      "values": "`4200000000000042`, `4200000000000067`",
      "result": "a challenge, `redirect.preconditions`",
      "meaning": "challenge with a device step"
    },
    {
      "field": "`card.number`",
      "values": "`4200000000000018`, `4200000000000075`",
      "result": "a challenge",
      "meaning": "challenge without a device step"
    },
    {
      "field": "`card.number`",
      "values": "`4000008400001629`",
      "result": "a challenge",
      "meaning": "challenge, then declined by the issuer"
    },
    {
      "field": "`card.number`",
      "values": "`4000008260003178`",
      "result": "a challenge",
      "meaning": "challenge, then amount exceeds credit"
    },
    {
      "field": "`customParameters[3DS2_enrolled]`",
      "values": "`true`",
      "result": "takes part in 3-D Secure",
      "meaning": "any card takes part"
    },
    {
      "field": "`customParameters[3DS2_flow]`",
      "values": "`challenge`",
      "result": "a challenge",
      "meaning": "any card, with a challenge"
    },
    {
      "field": "`customParameters[3DS2_flow]`",
      "values": "`frictionless`",
      "result": "status `Y`, unless its row says otherwise",
      "meaning": "any card, without a challenge"
    },
    {
      "field": "`threeDSecure.challengeIndicator`",
      "values": "`04`",
      "result": "a challenge",
      "meaning": "a challenge is mandated"
    },
    {
      "field": "`customParameters[SIM_TIMEOUT]`",
      "values": "a whole number",
      "result": "a challenge without an answer ends with `100.380.501`",
      "meaning": "seconds until an unanswered challenge ends"
    },
    {
      "field": "code on the challenge page",
      "values": "`1234`",
      "result": "status `Y`",
      "meaning": "authenticated"
    },
    {
      "field": "code on the challenge page",
      "values": "`2222`",
      "result": "status `A`",
      "meaning": "attempted"
    },
    {
      "field": "code on the challenge page",
      "values": "`3333`",
      "result": "status `N`, `100.380.401`",
      "meaning": "refused"
    },
    {
      "field": "code on the challenge page",
      "values": "`4444`",
      "result": "status `R`, `100.380.401`",
      "meaning": "rejected"
    },
    {
      "field": "code on the challenge page",
      "values": "`5555`",
      "result": "status `U`, `100.390.112`",
      "meaning": "unavailable; ends it unless the channel lets it go on"
    },
    {
      "field": "code on the challenge page",
      "values": "cancel",
      "result": "`100.396.101`",
      "meaning": "the shopper cancelled"
    },
    {
      "field": "code on the challenge page",
      "values": "none in time",
      "result": "`100.380.501`",
      "meaning": "ran out of time"
    },
    {
      "field": "code on the challenge page",
      "values": "three wrong codes",
      "result": "status `N`, `100.380.401`",
      "meaning": "refused"
    }
  ],
  "settlement": [
    {
      "field": "`bankAccount.iban`",
      "values": "`DE35370400440532013002`",
      "result": "",
      "meaning": "approved, charged back two days later"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000000259`",
      "result": "",
      "meaning": "charged back two days after settlement"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000002685`",
      "result": "",
      "meaning": "charged back, reversed three days later"
    },
    {
      "field": "`card.number`",
      "values": "`4000000000005423`",
      "result": "",
      "meaning": "line amount is one unit too low"
    },
    {
      "field": "`amount`",
      "values": "ends with `.91`",
      "result": "",
      "meaning": "no line"
    },
    {
      "field": "`amount`",
      "values": "ends with `.92`",
      "result": "",
      "meaning": "two lines"
    },
    {
      "field": "`amount`",
      "values": "ends with `.93`",
      "result": "",
      "meaning": "line in another currency, with a rate"
    },
    {
      "field": "`amount`",
      "values": "ends with `.94`",
      "result": "",
      "meaning": "line says FAILED"
    },
    {
      "field": "`amount`",
      "values": "ends with `.95`",
      "result": "",
      "meaning": "line without any id"
    }
  ]
}
