/** What the host of the scenario is told: its acquirer takes more at once than the engine lets through by default. */
import simulator from '@tollgate/connector-simulator/http'
import { defineConnector, definePlugin } from '@tollgate/plugin-kit'

const [connector] = simulator.connectors ?? []
if (connector === undefined) throw new Error('the simulator over HTTP has no connector')

export default {
  plugins: [
    definePlugin({
      ...simulator,
      connectors: [
        defineConnector({
          ...connector,
          supports: { ...connector.supports, limits: { concurrent: 10_000 } },
        }),
      ],
    }),
  ],
  connectors: {
    'simulator-http': { url: process.env.BENCH_ACQUIRER },
    'simulator-http-3ds': { url: process.env.BENCH_ACQUIRER },
  },
}
