/** The page of the merchant that shoppers go on to, which Tollgate calls where nobody read the result. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ShopPage = {
  readonly url: string
  close(): Promise<void>
}

/** @param called with the checkout and the id of each call of Tollgate */
export async function openShopPage(
  called: (checkout: string, call: string) => void,
): Promise<ShopPage> {
  const server = createServer((incoming, response) => {
    const { searchParams } = new URL(incoming.url ?? '/', 'http://shop')
    called(searchParams.get('id') ?? '', String(incoming.headers['webhook-id'] ?? ''))
    incoming.resume()
    response.end('thanks')
  })
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/thanks?order=7`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}
