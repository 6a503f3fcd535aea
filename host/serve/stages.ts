export type Stage = { readonly name: string; readonly endMs: number; readonly durationMs: number }

/** How long each stage of a start took, and when it ended, counted from the beginning of the process. */
export class Stages {
  readonly #all: Stage[] = []

  /** A stage that ends now. */
  note(name: string, durationMs: number): void {
    this.#all.push({ name, endMs: performance.now(), durationMs })
  }

  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const begunMs = performance.now()
    const result = await work()
    this.note(name, performance.now() - begunMs)
    return result
  }

  /** A row for each stage. Stages at the same time overlap. */
  rows(): string[][] {
    const shown = (ms: number) => ms.toFixed(0).padStart(6)
    return [
      ['stage', '    ms', '    at'],
      ...this.#all.map(({ name, endMs, durationMs }) => [name, shown(durationMs), shown(endMs)]),
    ]
  }
}
