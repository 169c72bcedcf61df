import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Participant } from '@rollcall/core/model/participant'
import {
  type CanonicalFormName,
  canonicalJson,
  isJsonObject,
  type JsonObject,
  operation,
  RequestFault,
  receivedParts,
  SignatureProblem,
  type SignedEnvelope,
} from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { envelopeBounds, messageBounds, readEnvelope, readMessage } from './envelope.ts'
import { findMessageCheckedByThread, joinSplitMessage, readLargeEnvelope, readLargeMessage } from './large.ts'
import { createReadingThreads } from './threads.ts'

const SEARCH = operation('search')
const FORMS: readonly CanonicalFormName[] = ['rfc8785', 'sorted-escaped', 'sorted-unescaped', 'as-received']
const limits = DEFAULT_LIMITS
const reading = createReadingThreads(1)

function sender(form: CanonicalFormName, signature_policy: Participant['signature_policy']) {
  const signature_profile: Participant['signature_profile'] = {
    layout: 'parameters',
    canonical_form: form,
    digest_prefix: '',
    algorithms: ['EdDSA'],
  }
  return { id: 1, sender_id: 'a.example', signature_policy, signature_profile }
}

/** The result of the work, or its refusal. */
async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RequestFault) return { code: error.code, message: error.message, status: error.httpStatus }
    if (error instanceof SignatureProblem) return { problem: error.message }
    throw error
  }
}

const signed = (source: SignedEnvelope, form: CanonicalFormName) => outcome(() => receivedParts(source, form))

/** All that is made of a message: what is remembered of it, acted on and persisted. */
const small = (message: JsonObject) =>
  outcome(() => {
    const read = canonicalJson(readMessage(SEARCH.request, message))
    return { values: read, text: read }
  })
const large = (message: JsonObject) =>
  outcome(async () => {
    const checked = findMessageCheckedByThread(message)
    if (checked === undefined) throw new Error('it was not read on a thread')
    return {
      values: canonicalJson(await joinSplitMessage(SEARCH, checked, 'values')),
      text: canonicalJson(await joinSplitMessage(SEARCH, checked, 'text')),
    }
  })

const ITEM = {
  reference_id: 'r-1',
  timestamp: '2026-02-03T09:15:00Z',
  search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: '1' } },
}
const value = fc.jsonValue({ maxDepth: 2 })
const item = fc.oneof(
  { weight: 8, arbitrary: fc.record({ more: value }).map(({ more }) => ({ ...ITEM, more })) },
  { weight: 1, arbitrary: fc.constantFrom<object>({ ...ITEM, locale: '' }, { ...ITEM, timestamp: 1 }, []) },
)
const batch = fc.oneof(
  { weight: 6, arbitrary: fc.array(item, { maxLength: 250 }) },
  { weight: 1, arbitrary: item },
  { weight: 1, arbitrary: value },
)
const header = {
  version: '1.0.0',
  message_id: 'm-1',
  message_ts: '2026-02-03T09:15:00Z',
  action: 'search',
  sender_id: 'a.example',
  total_count: '1',
}
/** Texts as they come, with a number here and there that no reader takes. */
const text = fc
  .record({ batch, meta: value, transaction_id: fc.constantFrom<unknown>('t-1', 7, ''), beyond: fc.boolean() })
  .map(({ batch, meta, transaction_id, beyond }) => {
    const message = { transaction_id, search_request: batch }
    const body = JSON.stringify({ signature: 'x', header: { ...header, meta }, message }, null, 1)
    return beyond ? body.replace('"r-1"', '12345678901234567890') : body
  })

describe('a body that is read on a thread', () => {
  it('is what it would be if it were read here, whatever stands in it', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom(...FORMS), async (text, form) => {
        const bounds = envelopeBounds(limits, SEARCH.request)
        const here = await outcome(() => readEnvelope(text, bounds))
        const there = await outcome(() => readLargeEnvelope({ reading }, SEARCH, sender(form, 'required'), text, bounds))
        if (!isEnvelope(here) || !isEnvelope(there)) {
          expect(there).toEqual(here)
          return
        }
        expect(there.header).toEqual(here.header)
        expect(await signed(there.source, form)).toEqual(await signed(here.source, form))
        expect(canonicalJson(there.message)).toBe(canonicalJson(here.message))
        expect(await large(there.message)).toEqual(await small(here.message))
      }),
      { numRuns: 60 },
    )
  })

  it('is what it would be if it came encrypted', async () => {
    const bounds = messageBounds(limits, SEARCH.request)
    await fc.assert(
      fc.asyncProperty(batch, async (search_request) => {
        const message = JSON.parse(JSON.stringify({ transaction_id: 't', search_request })) as JsonObject
        const there = await readLargeMessage({ reading }, SEARCH, 1, JSON.stringify(message), bounds)
        if (there === null) throw new Error('it is an object')
        expect(canonicalJson(there)).toBe(canonicalJson(message))
        expect(await large(there)).toEqual(await small(message))
      }),
      { numRuns: 20 },
    )
    for (const none of ['[]', '{', `{"x":[${'1,'.repeat(10_001)}1]}`]) {
      expect(await readLargeMessage({ reading }, SEARCH, 1, none, bounds)).toBeNull()
    }
  })

  it.each([
    ['is not signed where it must be', { ...header }, ''],
    ['names another sender', { ...header, sender_id: 'b.example' }, 'x'],
  ])('that %s is not looked at any further', async (_name, header, signature) => {
    const text = JSON.stringify({ signature, header, message: { search_request: [1, 2, 3] } })
    const bounds = envelopeBounds(limits, SEARCH.request)
    const read = await readLargeEnvelope({ reading }, SEARCH, sender('rfc8785', 'required'), text, bounds)
    expect(read.message).toEqual({})
    expect(findMessageCheckedByThread(read.message)).toBeUndefined()
  })
})

const isEnvelope = (found: unknown): found is { header: JsonObject; message: JsonObject; source: SignedEnvelope } =>
  isJsonObject(found) && 'source' in found

describe('threads', () => {
  it('take one body of each participant in turn', async () => {
    const threads = createReadingThreads(1)
    const ended: string[] = []
    const read = async (participant: number, name: string): Promise<void> => {
      await threads.run(participant, 'message', { text: '{}', operation: 'search', bounds: {} })
      ended.push(name)
    }
    await Promise.all([read(1, 'one'), read(1, 'one more'), read(1, 'a third'), read(2, 'another')])
    expect(ended).toEqual(['one', 'one more', 'another', 'a third'])
  })
})
