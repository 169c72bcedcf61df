/** The layouts as rows, and what a profile may combine. */
import { ALGORITHMS, type AlgorithmName } from './algorithms.ts'
import { CANONICAL_FORMS } from './canonical-forms.ts'
import { DIGESTS } from './digests.ts'
import { jws, jwsDetached } from './jws.ts'
import type { Layout } from './layout.ts'
import { parameters } from './parameters.ts'
import type { LayoutName, SignatureProfile } from './profile.ts'
import { rawRsa } from './raw-rsa.ts'

export const LAYOUTS: Readonly<Record<LayoutName, Layout>> = {
  parameters,
  jws,
  'jws-detached': jwsDetached,
  'raw-rsa': rawRsa,
}

/** The rule that a profile breaks, such as one that was typed in or comes from a file; null for a good one. */
export function profileProblem(
  profile: { readonly [Member in keyof SignatureProfile]: unknown },
): string | null {
  if (!isNameIn(LAYOUTS, profile.layout)) return `layout must be one of ${list(LAYOUTS)}`
  if (!isNameIn(CANONICAL_FORMS, profile.canonical_form)) {
    return `canonical_form must be one of ${list(CANONICAL_FORMS)}`
  }
  if (!isNameIn(DIGESTS, profile.digest_prefix)) return `digest_prefix must be one of ${list(DIGESTS)}`
  const layout = LAYOUTS[profile.layout]
  if (profile.digest_prefix !== '' && !layout.digest)
    return 'digest_prefix must be "" in a layout without digest'
  const { algorithms } = profile
  if (!Array.isArray(algorithms) || algorithms.length === 0 || new Set(algorithms).size < algorithms.length) {
    return 'algorithms must be a list of different names, one at least'
  }
  if (!algorithms.every((name) => isNameIn(ALGORITHMS, name))) {
    return `algorithms must be among ${list(ALGORITHMS)}`
  }
  if (!algorithms.every((name: AlgorithmName) => layout.algorithms.includes(name))) {
    return 'algorithms must be among those that the layout carries'
  }
  return null
}

function isNameIn<Row extends object>(rows: Row, name: unknown): name is keyof Row {
  return typeof name === 'string' && Object.hasOwn(rows, name)
}

function list(rows: object): string {
  return Object.keys(rows)
    .map((name) => `"${name}"`)
    .join(', ')
}
