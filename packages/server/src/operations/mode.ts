/** What differs between the searches of a synchronous request and those of one that is answered later. */
import type { SearchGate } from '../admission/search-gate.ts'
import type { ModeName } from '../model/mode.ts'

export interface Mode {
  readonly name: ModeName
  /** Shares out the connections of the mode's searches. */
  readonly gate: SearchGate
  /** Seconds after which no further search of a batch is begun. */
  readonly searchTime: number
}

export type Modes = Readonly<Record<ModeName, Mode>>
