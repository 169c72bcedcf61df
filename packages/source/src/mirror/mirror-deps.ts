/** The dependencies for following the source of a mirror. */

import type { Limits } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { OpenEngine } from '../engine/engine.ts'
import type { MirrorSettings, SourceFile } from '../engine/mapped-records.ts'
import type { MirrorClaim } from '../store/mirrors.ts'

export interface MirrorDeps {
  readonly db: Database
  readonly registry: Registry
  readonly file: SourceFile & { readonly mirror: MirrorSettings }
  readonly engine: OpenEngine
  readonly claim: MirrorClaim
  /** The name of our place in the log of the source (`logPlaceName`). */
  readonly placeName: string
  readonly limits: Pick<Limits, 'birth_span' | 'correction_time'>
  readonly now: () => Date
  readonly log: { warn(facts: object, message: string): void }
  /** Stores the reason for a long wait. The operator sees it where failures of the mirror are shown. */
  readonly waits: (what: string) => Promise<void>
}
