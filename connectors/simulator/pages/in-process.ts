/** The pages of the simulator inside the process, kept in the records of its two parts. */
import type { PageContext, PageReply, PageVisit } from '@tollgate/plugin-kit'
import { authenticatorName, casesIn } from '../authentication/keep.ts'
import { secretOf } from '../keep.ts'
import { type Payments, visitBank } from './bank.ts'
import { visitIssuer } from './challenge.ts'
import { missingPage } from './document.ts'
import { languageFor } from './language.ts'

/** The connector whose records hold open payments. */
export const connectorName = 'simulator'

/** @param paymentsIn the payments in the records of the connector */
export function openPages(paymentsIn: (records: ReturnType<PageContext['records']>) => Payments) {
  return async (visit: PageVisit, context: PageContext): Promise<PageReply> => {
    const ofAuthenticator = context.records(authenticatorName)
    const issuer = async () =>
      visitIssuer(
        visit,
        casesIn(ofAuthenticator),
        await secretOf(ofAuthenticator),
        context.clock.now().getTime(),
      )
    const ofConnector = context.records(connectorName)
    const bank = async () => visitBank(visit, paymentsIn(ofConnector), await secretOf(ofConnector))
    return (
      (await issuer()) ??
      (await bank()) ??
      missingPage(languageFor([visit.query.lang, visit.acceptLanguage]))
    )
  }
}
