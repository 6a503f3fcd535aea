/** Opens the pods of an installation. A pod whose database is away does not keep the others from their merchants. */
import { type Gateway, type InstallationKey, Pods, whenReachable } from '@tollgate/core'
import { type PodSetting, placeOf, settingsOfPod } from '../config/pod-settings.ts'
import type { HostSettings } from '../config/read-settings.ts'
import { DatabaseError, type Place } from './database.ts'
import { type Installation, openInstallation } from './installation.ts'

/** Between two tries to open the pods that were away at the start. */
const retryMs = 2_000

/**
 * @throws as openInstallation: for faults of the settings of any pod, and when all databases are away.
 */
export async function openPods(settings: HostSettings, place: Place): Promise<Installation> {
  const opening = new Opening(settings, place)
  try {
    // The host waits while all databases are away; one that answers is served at once. A fault of the settings ends
    // the start, because no waiting cures it.
    const wait = { seconds: settings.startWait, log: place.log }
    const fault = await whenReachable(() => opening.openAll(settings.pods), wait)
    if (fault !== undefined) throw fault.thrown
    return opening.installation()
  } catch (thrown) {
    await opening.close()
    throw thrown
  }
}

class Opening {
  readonly #settings: HostSettings
  readonly #place: Place
  readonly #opened: Installation[] = []
  #away: readonly PodSetting[] = []
  #key: InstallationKey | undefined
  #pods: Pods | undefined
  /** Done again for pods that come later. */
  readonly #told: ((one: Installation) => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #trying: Promise<void> | undefined
  #isClosed = false

  constructor(settings: HostSettings, place: Place) {
    this.#settings = settings
    this.#place = place
  }

  /**
   * One after the other: a new pod takes the installation's key of one before it.
   *
   * @returns the fault of a pod that no waiting cures. @throws when all databases are away.
   */
  async openAll(pods: readonly PodSetting[]): Promise<{ readonly thrown: unknown } | undefined> {
    const away: PodSetting[] = []
    let last: unknown
    for (const pod of pods) {
      try {
        await this.#open(pod)
      } catch (thrown) {
        if (!isAway(thrown)) return { thrown }
        last = thrown
        away.push(pod)
        this.#warn(pod, thrown, 'the database of a pod is away; the host serves the others')
      }
    }
    if (this.#opened.length === 0) throw last
    this.#away = away
    return undefined
  }

  installation(): Installation {
    const [first] = this.#opened
    const gateways = this.#opened.map(({ gateway }) => gateway)
    const pods = new Pods(gateways, { away: this.#away.map(({ number }) => number) })
    this.#pods = pods
    if (this.#away.length > 0) this.#tryLater()
    return {
      gateway: first!.gateway,
      served: pods,
      database: {
        ...first!.database,
        title: this.#settings.pods
          .map(({ number, name, database }) => `pod ${number} ${name} ${placeOf(database)}`)
          .join(', '),
      },
      plugins: first!.plugins,
      listensAt: (url) => this.#tellAll((one) => one.listensAt(url)),
      keepsFromMerchants: (url) => this.#tellAll((one) => one.keepsFromMerchants(url)),
      close: () => this.close(),
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#trying
    await Promise.all(this.#opened.map((one) => one.close()))
  }

  async #open(pod: PodSetting): Promise<Gateway> {
    const place = { number: pod.number, ...(this.#key && { installationKey: this.#key }) }
    const settings = { ...settingsOfPod(this.#settings, pod), startWait: 0 }
    const one = await openInstallation(settings, this.#place, { pod: place }, 'host')
    this.#opened.push(one)
    this.#key ??= await one.gateway.installationKey()
    for (const tell of this.#told) tell(one)
    return one.gateway
  }

  #tellAll(tell: (one: Installation) => void): void {
    this.#told.push(tell)
    for (const one of this.#opened) tell(one)
  }

  #tryLater(): void {
    this.#timer = setTimeout(() => {
      this.#trying = this.#tryAgain().finally(() => {
        this.#trying = undefined
      })
    }, retryMs)
    this.#timer.unref()
  }

  async #tryAgain(): Promise<void> {
    const away: PodSetting[] = []
    for (const pod of this.#away) {
      if (this.#isClosed) return
      try {
        this.#pods!.add(await this.#open(pod))
        this.#place.log.info({ pod: pod.number, name: pod.name }, 'the pod is back and served')
      } catch (thrown) {
        away.push(pod)
        // What only its first start can find out, such as another number, is no outage.
        if (!isAway(thrown)) this.#warn(pod, thrown, 'a pod cannot be served')
      }
    }
    this.#away = away
    if (away.length > 0 && !this.#isClosed) this.#tryLater()
  }

  #warn({ number, name }: PodSetting, thrown: unknown, message: string): void {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    this.#place.log.warn({ pod: number, name, why }, message)
  }
}

/** The network's and Postgres' codes for a server that is away, starting, ending, full, or a standby. */
const awayCode = /^(?:ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|08|57P|53|25006)/

/** The client library's own errors and those of the engine about its leader have no code. */
const awayText =
  /^(?:timeout expired|Connection terminated|the database server (?:only reads|was replaced)|(?:the database|a database server) .*in time$)/i

/** Whether the database may be back later. Faults of the settings are not cured by waiting. */
function isAway(thrown: unknown): boolean {
  if (thrown instanceof DatabaseError) return thrown.isAway
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code === 'string') return awayCode.test(code)
  return awayText.test(String(message))
}
