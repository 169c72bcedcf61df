import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Vector, VectorKey } from '../../../conformance/signature/cases.ts'
import { vectorsOf } from '../../../conformance/signature/generate.ts'
import { FILES } from '../../../conformance/signature/vectors.ts'
import {
  checkFreshness,
  importVerifyingKey,
  isJsonObject,
  JsonError,
  readSignature,
  SignatureProblem,
  SourcedEnvelope,
  verifySignature,
} from '../src/index.ts'

const read = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../conformance/signature', `${name}.json`), 'utf8'))

const keys: readonly VectorKey[] = read('keys')

/** Does the steps that docs/signature.md lists for a receiver. */
async function receive({ body, profile, namespaces, now, callback }: Vector): Promise<void> {
  let envelope: SourcedEnvelope
  try {
    envelope = new SourcedEnvelope(body)
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError)
    throw new SignatureProblem('invalid', 'the body is no JSON that is read here')
  }
  const signature = readSignature(envelope.member('signature'), { profile, namespaces })
  const header = envelope.member('header')
  const { sender_id, message_ts } = isJsonObject(header) ? header : {}
  const { created, expires } = signature
  checkFreshness({ profile, created, expires, message_ts, now, callback })
  const key = keys.find(
    (key) =>
      key.sender_id === (signature.sender_id ?? sender_id) &&
      key.algorithm === signature.algorithm &&
      (signature.kid === null || key.kid === signature.kid),
  )
  if (key === undefined) {
    if (!isJsonObject(header)) throw new SignatureProblem('invalid', 'the envelope has no header')
    throw new SignatureProblem('invalid', 'the sender has no such key')
  }
  await verifySignature(signature, envelope, await importVerifyingKey(key.public_jwk, key.algorithm))
}

async function outcome(vector: Vector): Promise<{ expected: string; reason?: string }> {
  try {
    await receive(vector)
    return { expected: 'valid' }
  } catch (error) {
    if (!(error instanceof SignatureProblem)) throw error
    return { expected: error.kind, reason: error.message }
  }
}

describe.each(Object.keys(FILES))('conformance/signature/%s.json', (file) => {
  const vectors: readonly Vector[] = read(file)

  it.each(vectors.map((vector) => [`${vector.clause}: ${vector.name}`, vector] as const))('%s', async (_, vector) => {
    const { expected, reason } = vector
    expect(await outcome(vector)).toEqual(reason === undefined ? { expected } : { expected, reason })
  })

  it('shows of every clause what is taken and what is refused', () => {
    for (const clause of new Set(vectors.map((vector) => vector.clause))) {
      const expected = vectors.filter((vector) => vector.clause === clause).map((vector) => vector.expected)
      expect({ clause, valid: expected.includes('valid') }).toEqual({ clause, valid: true })
      expect({ clause, valid: expected.every((each) => each === 'valid') }).toEqual({ clause, valid: false })
    }
  })

  it('is what generate.ts writes', async () => {
    // ECDSA signatures are made with a random number; what they sign is compared all the same.
    const comparable = (list: readonly Vector[]) =>
      list.map((vector) => {
        const ecdsa = vector.body.includes('ES256') || vector.name === 'ES256'
        return ecdsa ? { ...vector, body: '' } : vector
      })
    expect(comparable(await vectorsOf(file))).toEqual(comparable(vectors))
  })
})
