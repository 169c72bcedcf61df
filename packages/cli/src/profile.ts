/** Reads and writes signature profiles on the command line: words with commas, such as `jws,as-received,RS256`. */
import {
  ALGORITHMS,
  type AlgorithmName,
  CANONICAL_FORMS,
  type CanonicalFormName,
  DEFAULT_SIGNATURE_PROFILE,
  DIGESTS,
  type DigestPrefix,
  LAYOUTS,
  type LayoutName,
  profileProblem,
  type SignatureProfile,
} from '@rollcall/protocol'
import { InvalidArgumentError } from 'commander'

// These casts are safe, because each table has exactly the names that its type allows.
export const LAYOUT_NAMES = Object.keys(LAYOUTS) as LayoutName[]
export const CANONICAL_FORM_NAMES = Object.keys(CANONICAL_FORMS) as CanonicalFormName[]
export const DIGEST_PREFIXES = Object.keys(DIGESTS) as DigestPrefix[]
const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as AlgorithmName[]

/** Returns a profile as the words that `readProfile` takes. */
export function profileText({ layout, canonical_form, digest_prefix, algorithms }: SignatureProfile): string {
  return [layout, canonical_form, ...(digest_prefix === '' ? [] : [digest_prefix]), ...algorithms].join(',')
}

/** Reads a profile from words in any order. A part that no word names is as in DEFAULT_SIGNATURE_PROFILE. */
export function readProfile(text: string): SignatureProfile {
  const words = text === 'default' ? [] : text.split(',')
  const known: readonly string[] = [...LAYOUT_NAMES, ...CANONICAL_FORM_NAMES, ...DIGEST_PREFIXES, ...ALGORITHM_NAMES]
  const unknown = words.filter((word) => word === '' || !known.includes(word))
  if (unknown.length > 0) {
    throw new InvalidArgumentError(
      `A profile is one or more of these words, with commas between them: ${known.filter((word) => word !== '').join(', ')}.`,
    )
  }
  const algorithms = ALGORITHM_NAMES.filter((name) => words.includes(name))
  const profile: SignatureProfile = {
    layout: findNameInWords(LAYOUT_NAMES, words) ?? DEFAULT_SIGNATURE_PROFILE.layout,
    canonical_form: findNameInWords(CANONICAL_FORM_NAMES, words) ?? DEFAULT_SIGNATURE_PROFILE.canonical_form,
    digest_prefix: findNameInWords(DIGEST_PREFIXES, words) ?? DEFAULT_SIGNATURE_PROFILE.digest_prefix,
    algorithms: algorithms.length > 0 ? algorithms : DEFAULT_SIGNATURE_PROFILE.algorithms,
  }
  const problem = profileProblem(profile)
  if (problem !== null) throw new InvalidArgumentError(`${problem}.`)
  return profile
}

/** Finds the only one of `names` that is in `words`; undefined when none is. @throws InvalidArgumentError several are */
function findNameInWords<Name extends string>(names: readonly Name[], words: readonly string[]): Name | undefined {
  const [name, ...more] = names.filter((candidate) => words.includes(candidate))
  if (more.length > 0) throw new InvalidArgumentError(`It must name only one of ${names.filter(Boolean).join(', ')}.`)
  return name
}

/** Lists every possible combination of layout, canonical form, digest prefix and one algorithm. */
export function everyProfile(): SignatureProfile[] {
  const profiles: SignatureProfile[] = []
  for (const layout of LAYOUT_NAMES) {
    for (const canonical_form of CANONICAL_FORM_NAMES) {
      for (const digest_prefix of DIGEST_PREFIXES) {
        for (const algorithm of ALGORITHM_NAMES) {
          const profile = { layout, canonical_form, digest_prefix, algorithms: [algorithm] }
          if (profileProblem(profile) === null) profiles.push(profile)
        }
      }
    }
  }
  return profiles
}
