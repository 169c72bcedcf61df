/** The vectors: every clause with what is taken and what is refused. */
import { algorithms } from './algorithm-cases.ts'
import { canonicalForms } from './canonical-form-cases.ts'
import type { Cases } from './common-cases.ts'
import { jwsLayouts } from './jws-cases.ts'
import { binding, grammar } from './parameter-cases.ts'
import { freshness, rawRsa } from './raw-rsa-cases.ts'

/** By the name of their file. */
export const FILES: Cases = {
  'canonical-forms': canonicalForms,
  binding,
  grammar,
  algorithms,
  jws: jwsLayouts,
  'raw-rsa': rawRsa,
  freshness,
}
