import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../json.ts'
import { JsonError } from '../../json-error.ts'
import { NUMBER_RULE } from '../../numbers.ts'
import { canonicalJson } from '../canonical-json.ts'
import { importSigningKey, importVerifyingKey, type Jwk } from '../jwk.ts'
import { SourcedEnvelope } from '../source.ts'
import { ALGORITHMS, type AlgorithmName } from './algorithms.ts'
import { CANONICAL_FORMS, type CanonicalFormName } from './canonical-forms.ts'
import { DIGESTS, type DigestPrefix } from './digests.ts'
import type { LayoutName, SignatureProfile } from './layout.ts'
import { LAYOUTS, profileProblem } from './layouts.ts'
import { SignatureProblem } from './problem.ts'
import { sign } from './sign.ts'
import { readSignature, verifySignature } from './verify.ts'

const file = join(import.meta.dirname, '../../../../../conformance/signature/keys.json')
const keys = (JSON.parse(readFileSync(file, 'utf8')) as TestKey[]).filter((key) => key.sender_id === 'sp-system')
interface TestKey {
  readonly sender_id: string
  readonly kid: string
  readonly algorithm: AlgorithmName
  readonly public_jwk: Jwk
  readonly private_jwk: Jwk
}

const names = <Row extends object>(rows: Row) => Object.keys(rows) as (keyof Row)[]
/** Every profile there can be with one algorithm. */
const profiles = names(LAYOUTS).flatMap((layout: LayoutName) =>
  names(CANONICAL_FORMS).flatMap((canonical_form: CanonicalFormName) =>
    names(DIGESTS).flatMap((digest_prefix: DigestPrefix) =>
      names(ALGORITHMS)
        .map((name): SignatureProfile => ({ layout, canonical_form, digest_prefix, algorithms: [name] }))
        .filter((profile) => profileProblem(profile) === null),
    ),
  ),
)
const titled = profiles.map((profile) => [Object.values(profile).flat().join(' '), profile] as const)

function keyOf(profile: SignatureProfile): TestKey {
  const key = keys.find((key) => profile.algorithms.includes(key.algorithm))
  if (key === undefined) throw new Error('keys.json has no such key')
  return key
}

const imported = new Map<string, ReturnType<typeof importVerifyingKey>>()
function verifyingKey({ kid, public_jwk }: TestKey, algorithm: AlgorithmName) {
  const key = imported.get(kid) ?? importVerifyingKey(public_jwk, algorithm)
  imported.set(kid, key)
  return key
}

type Members = { [member: string]: JsonValue }

async function signed(profile: SignatureProfile, header: Members, message: JsonValue): Promise<string> {
  const { sender_id, kid, algorithm, private_jwk } = keyOf(profile)
  const privateKey = await importSigningKey(private_jwk, algorithm)
  const key = { sender_id, kid, algorithm, privateKey }
  const created = 1_767_225_600
  return sign({ header, message, profile, key, namespace: 'registry', created, expires: created + 300 })
}

/** Reads, looks the key up and verifies: null when the signature is taken, the rule otherwise. */
async function refusal(profile: SignatureProfile, body: string): Promise<string | null> {
  const key = keyOf(profile)
  const envelope = new SourcedEnvelope(body)
  try {
    const signature = readSignature(envelope.member('signature'), { profile, namespaces: ['registry'] })
    const { sender_id, kid, algorithm } = signature
    if ((kid ?? key.kid) !== key.kid || (sender_id ?? key.sender_id) !== key.sender_id) return 'no such key'
    await verifySignature(signature, envelope, await verifyingKey(key, algorithm))
    return null
  } catch (error) {
    if (error instanceof SignatureProblem && error.kind === 'invalid') return error.message
    throw error
  }
}

const wellFormed = fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.replaceAll('\0', ''))
/** JSON that every form can hold; -0 is 0 to JSON. */
const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(null, true, false, '', 0, 3, 1e-7, 1e21, -0.5),
    wellFormed,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => double + 0),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((integer) => Number(integer) + 0),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(wellFormed, tie('value'), { maxKeys: 3 }),
  ),
})).value

const members = fc.dictionary(wellFormed, json, { maxKeys: 4 })
const header = members.map((header): Members => ({ ...header, sender_id: 'sp-system' }))

/** All values that differ from `value` in one place. */
function* changes(value: JsonValue): Generator<JsonValue> {
  yield value === null ? false : null
  if (typeof value === 'string') yield `${value}x`
  if (typeof value === 'number') yield value === 0 ? 1 : -value
  if (typeof value === 'boolean') yield !value
  yield [value]
  if (Array.isArray(value)) {
    yield [...value, null]
    for (const [index, element] of value.entries()) {
      yield value.toSpliced(index, 1)
      for (const changed of changes(element)) yield value.with(index, changed)
    }
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, 'one more': null }
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...others } = value
      yield others
      yield { ...others, [`${name}x`]: member }
      for (const changed of changes(member)) yield { ...others, [name]: changed }
    }
  }
}

/** A member beside header and message is nobody's: neither signed nor acted on. */
function signedPart(parts: JsonValue): string {
  const { header, message } = { ...(parts as Members | null) }
  return canonicalJson({ header, message })
}

describe.each(titled)('%s', (_, profile) => {
  test('signs and verifies any JSON', async () => {
    await fc.assert(
      fc.asyncProperty(header, json, async (header, message) => {
        const signature = await signed(profile, header, message)
        expect(await refusal(profile, canonicalJson({ signature, header, message }))).toBeNull()
      }),
      // Six runs for each of 64 profiles.
      { numRuns: 6 },
    )
  })

  test('refuses any change of any value of header or message', async () => {
    await fc.assert(
      fc.asyncProperty(header, json, fc.nat(), async (header, message, seed) => {
        const signature = await signed(profile, header, message)
        const original = signedPart({ header, message })
        const changed = [...changes({ header, message })].filter((parts) => signedPart(parts) !== original)
        // Some of them: all would be thousands of verifications.
        for (let step = 0; step < 5; step += 1) {
          const parts = changed[(seed + step * 7919) % changed.length] as Members
          const refused = await refusal(profile, canonicalJson({ ...parts, signature }))
          expect({ parts, refused }).not.toEqual({ parts, refused: null })
        }
      }),
      { numRuns: 4 },
    )
  })

  test('refuses a change of any character of the signature', async () => {
    const header = { sender_id: 'sp-system' }
    const message = { a: 'é', b: [1, 2] }
    const signature = await signed(profile, header, message)
    expect(await refusal(profile, canonicalJson({ signature, header, message }))).toBeNull()
    // A third of the characters in each profile; with each algorithm, a character becomes each of these letters in some profile.
    const letters = ['A', '1', 'Q']
    const number = profiles.indexOf(profile)
    for (let at = Math.floor(number / 4) % 3; at < signature.length; at += 3) {
      const letter = letters[(Math.floor(number / 12) + at) % 3]
      const edited = signature.slice(0, at) + (signature[at] === letter ? 'R' : letter) + signature.slice(at + 1)
      const refused = await refusal(profile, canonicalJson({ signature: edited, header, message }))
      expect({ edited, refused }).not.toEqual({ edited, refused: null })
    }
  })
})

test('every layout, form, prefix and algorithm is among them', () => {
  expect(profiles).toHaveLength(4 * 3 * 3 + 2 * 4 * 3 + 4)
})

describe('numbers in the text', () => {
  const body = (signature: string, n: string) =>
    `{"signature":${JSON.stringify(signature)},"header":{"sender_id":"sp-system"},"message":${n}}`
  const ofForm = (form: CanonicalFormName) =>
    profiles.filter(({ canonical_form }) => canonical_form === form).map((profile) => [profile] as const)

  test.each(ofForm('rfc8785'))('any spelling of one number is verified by %j', async (profile) => {
    const signature = await signed(profile, { sender_id: 'sp-system' }, 2 ** 53)
    for (const n of ['9007199254740992', '9007199254740992.0', '9.007199254740992E15']) {
      expect(await refusal(profile, body(signature, n))).toBeNull()
    }
    expect(await refusal(profile, body(signature, '9007199254740994'))).not.toBeNull()
  })

  test('a number that would be rounded is refused before anything is verified', () => {
    expect(() => new SourcedEnvelope(body('', '9007199254740993'))).toThrow(new JsonError('message', NUMBER_RULE))
  })
})
