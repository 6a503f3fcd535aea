import type { Patch } from '../mutants.ts'
import type { Scene } from '../scene.ts'

export type Rule = {
  /** The rule as a sentence. */
  readonly rule: string
  run(scene: Scene): Promise<void>
  /** Mistakes that break it, each in one place of a source. */
  readonly mistakes: readonly Patch[]
}

/** A mistake: in a source, this text in place of that one. */
export const mistake = (file: string, find: string, put: string): Patch => ({ file, find, put })
