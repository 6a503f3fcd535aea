/** A frame without a field: it sends payments by stored cards, bank accounts and other brands. */
import { awaitPage } from './page-port.ts'
import { createSender } from './submission.ts'

const sender = createSender()

awaitPage(
  () => {},
  (word, port) => {
    if (word.do === 'submit') void sender.send(word, {}, port)
    if (word.do === 'look') void sender.look(port)
    if (word.do === 'state') void sender.follow(port)
  },
)
