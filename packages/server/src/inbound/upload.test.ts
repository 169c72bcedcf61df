import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFault } from '../../test/expectations.ts'
import { BOUNDARY, multipartBody, type Part, uploadParts } from '../../test/multipart.ts'
import { type Peer, sealingPeer, signedBody } from '../../test/sealing.ts'
import {
  type Answer,
  bearer,
  post,
  searchRequest,
  type TestParticipant,
  type TestServer,
  testServer,
} from '../../test/server.ts'

const PATH = '/civil/v1.0.0/registry/search'
const LIMITS = {
  ROLLCALL_MAX_BODY_BYTES: '50000',
  ROLLCALL_MAX_UPLOAD_BYTES: '4000000',
  ROLLCALL_MAX_UPLOAD_ITEMS: '2000',
  ROLLCALL_MAX_BATCH_ITEMS: '10',
  ROLLCALL_RATE_LIMIT: '1000000',
}

let server: TestServer
let ada: TestParticipant
let signer: Peer

beforeAll(async () => {
  server = await testServer(LIMITS)
  ada = await server.participant('spmis.demo')
  signer = await sealingPeer(server, 'signs.demo')
  await server.registry('civil')
})
afterAll(() => server.close())

const TYPE = `multipart/form-data; boundary=${BOUNDARY}`

const send = (body: Buffer, by: TestParticipant = ada, type = TYPE, path = PATH): Promise<Answer> =>
  post(`${server.url}${path}`, new Uint8Array(body), { ...bearer(by), 'Content-Type': type })

const upload = (parts: Parameters<typeof uploadParts>[0], by?: TestParticipant): Promise<Answer> =>
  send(multipartBody(uploadParts(parts)), by)

const sha256 = (file: string | Buffer, encoding: 'hex' | 'base64url' = 'hex'): string =>
  createHash('sha256').update(file).digest(encoding)

/** The envelope of a file: its header, and the file's digest. */
function envelopeOf(
  file: string | Buffer,
  { header = {}, message = {} }: { header?: object; message?: object } = {},
  sender_id = ada.sender_id,
) {
  const request = searchRequest(sender_id, {}, { header: { total_count: 0, ...header } })
  return {
    header: { ...request.header, message_ts: new Date().toISOString() },
    message: { transaction_id: 'tx-file', file_sha256: sha256(file), ...message },
  }
}

const csvOf = (rows: readonly (readonly string[])[]): string =>
  ['identifier_type,identifier_value', ...rows.map((row) => row.join(','))].join('\r\n')

const itemOf = (reference_id: string, value = 'x') => ({
  reference_id,
  timestamp: '2026-02-03T09:15:00.000Z',
  search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value } },
})

/** What is kept of an accepted request, opened. */
async function kept(answer: Answer) {
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ message: { ack_status: 'ACK' } })
  expect(answer.status).toBe(200)
  const { correlation_id } = answer.body.message
  const { rows } = await server.database.db.pool.query(
    'select items, request, transaction_id from accepted_exchange where correlation_id = $1',
    [correlation_id],
  )
  expect(rows).toHaveLength(1)
  const [{ items, request, transaction_id }] = rows
  const text = await server.context.bodies.openBody(request, `exchange ${correlation_id} request`)
  return { items, transaction_id, ...JSON.parse(text) }
}

const acceptedCount = async (): Promise<number> => {
  const { rows } = await server.database.db.pool.query('select count(*) as count from accepted_exchange')
  return rows[0].count
}

describe('a file that is taken', () => {
  it('is csv: one identifier a row, named by its line or by a column of its own', async () => {
    const plain = csvOf([
      ['UIN', '0012'],
      ['BRN', '"B ""5"", 521"'],
    ])
    const first = await kept(await upload({ envelope: envelopeOf(plain), file: plain }))
    const timestamp = first.header.message_ts
    const query = (type: string, value: string) => ({
      timestamp,
      search_criteria: { query_type: 'idtype-value', query: { type, value } },
    })
    expect([first.items, first.transaction_id]).toEqual([2, 'tx-file'])
    expect(first.message).toEqual({
      transaction_id: 'tx-file',
      search_request: [
        { reference_id: '2', ...query('UIN', '0012') },
        { reference_id: '3', ...query('BRN', 'B "5", 521') },
      ],
    })
    const named = '\ufeffreference_id,identifier_value,identifier_type\na-1,0012,UIN\n\n,,UIN\n'
    const second = await kept(await upload({ envelope: envelopeOf(named), file: named }))
    expect(second.message.search_request).toMatchObject([
      { reference_id: 'a-1', ...query('UIN', '0012'), timestamp: second.header.message_ts },
      { reference_id: '4', ...query('UIN', ''), timestamp: second.header.message_ts },
    ])
  })

  it('is ndjson: one item a line, in every spelling that a plain message may have', async () => {
    const items = [itemOf('r-1'), { ...itemOf('r-2'), locale: '' }]
    const file = `${items.map((item) => JSON.stringify(item)).join('\n')}\n\n`
    const envelope = envelopeOf(file, { header: { total_count: 2 } })
    const { message } = await kept(await upload({ fileFormat: 'NDJSON', envelope, file }))
    expect(message.search_request).toEqual([itemOf('r-1'), itemOf('r-2')])
  })

  it('is json: the whole envelope, under the limits of a plain body, and the default', async () => {
    const request = searchRequest(ada.sender_id, { type: 'UIN', value: '1' }, { header: { total_count: 1 } })
    for (const fileFormat of ['json', null]) {
      const changed = { ...request, header: { ...request.header, message_id: `json ${fileFormat}` } }
      const answer = await upload({ fileFormat, file: JSON.stringify(changed) })
      expect((await kept(answer)).message).toEqual(request.message)
    }
    const search_request = Array.from({ length: 11 }, (_, index) => itemOf(`r-${index}`))
    const many = searchRequest(ada.sender_id, {}, { header: { total_count: 0 }, message: { search_request } })
    expectFault(
      await upload({ fileFormat: 'json', file: JSON.stringify(many) }),
      400,
      'err.request.bad',
      'rjct.total_count.limit_exceeded: message.search_request: must have at most 10 items',
    )
    expectFault(
      await upload({ fileFormat: 'json', file: `${JSON.stringify(request)}${' '.repeat(50_000)}` }),
      413,
      'err.request.bad',
      'fileName: must be at most 50000 bytes',
    )
  })

  it('has parts under their other names, and a digest in base64url', async () => {
    const file = csvOf([['UIN', '1']])
    const envelope = envelopeOf(file, { message: { file_sha256: sha256(file, 'base64url') } })
    const names: Readonly<Record<string, string>> = { fileFormat: 'file_format', fileName: 'file' }
    const parts = uploadParts({ envelope, file }).map((part) => ({
      ...part,
      name: names[part.name] ?? part.name,
    }))
    expect((await kept(await send(multipartBody(parts)))).items).toBe(1)
  })

  it('may be large: its items are kept in the order of the file', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => ['UIN', `${index}-${'x'.repeat(1_000)}`])
    const file = csvOf(rows)
    const { items, message } = await kept(await upload({ envelope: envelopeOf(file), file }))
    expect(items).toBe(2_000)
    expect(
      message.search_request.map((item: ReturnType<typeof itemOf>) => item.search_criteria.query.value),
    ).toEqual(rows.map(([, value]) => value))
  })

  it('has the same ack when it comes again, and is another message with another file', async () => {
    const file = csvOf([['UIN', '7']])
    const envelope = envelopeOf(file)
    const first = await upload({ envelope, file })
    const before = await acceptedCount()
    const again = await upload({ envelope, file })
    expect(again.body.message).toMatchObject({
      ack_status: 'ACK',
      correlation_id: first.body.message.correlation_id,
    })
    const other = csvOf([['UIN', '8']])
    const changed = { ...envelope, message: { ...envelope.message, file_sha256: sha256(other) } }
    expectFault(
      await upload({ envelope: changed, file: other }),
      400,
      'err.request.bad',
      'rjct.message_id.duplicate: header.message_id: was used before for another message',
    )
    expect(await acceptedCount()).toBe(before)
  })
})

describe('the signature of a file', () => {
  const file = csvOf([['UIN', '0012']])
  const signed = (message: object = {}, changes: object = {}) =>
    signedBody(signer, { ...envelopeOf(file, { message }, signer.sender_id), ...changes })

  it('covers it by its digest', async () => {
    expect((await kept(await upload({ envelope: signed(), file }, signer))).items).toBe(1)
    expectFault(
      await upload({ envelope: signed(), file: `${file}\r\nUIN,13` }, signer),
      401,
      'err.signature.invalid',
      'message.file_sha256: is not that of the file',
    )
  })

  it('is looked at before the file: nothing of it is told to who cannot sign', async () => {
    const body = JSON.parse(signed())
    body.message.transaction_id = 'tx-other'
    const answer = await upload({ envelope: body, file: 'nonsense' }, signer)
    expect([answer.status, answer.body.message.error.code]).toEqual([401, 'err.signature.invalid'])
  })

  it.each([
    ['no envelope', { envelope: null }, 'signature: is required'],
    ['no signature', { unsigned: true }, 'signature: is required'],
    [
      'no digest',
      { file_sha256: undefined },
      'message.file_sha256: is required, so that the signature covers the file',
    ],
  ])('is missing with %s', async (_name, change, text) => {
    const { envelope, unsigned, ...message } = { envelope: undefined, unsigned: false, ...change }
    const sent = unsigned ? envelopeOf(file, {}, signer.sender_id) : signed(message)
    const answer = await upload({ envelope: envelope === null ? null : sent, file }, signer)
    expectFault(answer, 401, 'err.signature.missing', answer.body.message.error.message)
    expect(answer.body.message.error.message).toContain(text.split(':')[0])
  })

  it('who need not sign needs no digest, but one that is given counts', async () => {
    const without = envelopeOf(file, { message: { file_sha256: undefined } })
    expect((await kept(await upload({ envelope: without, file }))).items).toBe(1)
    const wrong = envelopeOf('another file')
    expectFault(
      await upload({ envelope: wrong, file }),
      401,
      'err.signature.invalid',
      'message.file_sha256: is not that of the file',
    )
    for (const file_sha256 of ['x', 7, 'a'.repeat(63)]) {
      expectFault(
        await upload({ envelope: envelopeOf(file, { message: { file_sha256 } }), file }),
        400,
        'err.request.bad',
        'message.file_sha256: must be the SHA-256 of the file, in hexadecimal or base64url',
      )
    }
  })
})

describe('an upload that is refused', () => {
  const file = csvOf([['UIN', '1']])
  const parts = (changes: Partial<Parameters<typeof uploadParts>[0]> = {}) =>
    uploadParts({ envelope: envelopeOf(file), file, ...changes })
  const refused = async (sent: readonly Part[] | Buffer, message: string, status = 400) => {
    const before = await acceptedCount()
    const answer = await send(Buffer.isBuffer(sent) ? sent : multipartBody(sent as readonly Part[]))
    expectFault(answer, status, 'err.request.bad', message)
    expect(await acceptedCount()).toBe(before)
  }

  it.each<[string, () => readonly Part[], string]>([
    ['no action', () => parts({ action: null }), 'action: is required, before fileName'],
    ['another action', () => parts({ action: 'subscribe' }), 'action: must be search on this path'],
    [
      'another format',
      () => parts({ fileFormat: 'xlsx' }),
      'fileFormat: must be one of json, ndjson, csv on this path',
    ],
    ['no file', () => parts().slice(0, -1), 'fileName: the part with the file is required'],
    ['no parts', () => [], 'fileName: the part with the file is required'],
    [
      'no envelope',
      () => parts({ envelope: null }),
      'envelope: is required before fileName where fileFormat is csv',
    ],
    [
      'an envelope beside json',
      () => parts({ fileFormat: 'json' }),
      'envelope: stands in the file where fileFormat is json',
    ],
    [
      'an envelope that is no JSON',
      () => parts({ envelope: '{' }),
      'not JSON: a member name is expected at character 2',
    ],
    ['an envelope without message', () => parts({ envelope: { header: {} } }), 'message: must be an object'],
    [
      'items in the envelope',
      () => parts({ envelope: envelopeOf(file, { message: { search_request: [] } }) }),
      'message.search_request: stands in the file',
    ],
    [
      'a transaction_id that is too long',
      () => parts({ envelope: envelopeOf(file, { message: { transaction_id: 'x'.repeat(100) } }) }),
      'message.transaction_id: must have at most 99 characters',
    ],
    [
      'another part',
      () => [{ name: 'sender_id', content: 'x' }, ...parts()],
      'body: has a part that is none of action, fileFormat, envelope and fileName',
    ],
    [
      'a part called __proto__',
      () => [{ name: '__proto__', content: 'x' }, ...parts()],
      'body: has a part that is none of action, fileFormat, envelope and fileName',
    ],
    ['a part twice', () => [{ name: 'action', content: 'search' }, ...parts()], 'action: is sent twice'],
    [
      'a part twice under two names',
      () => [{ name: 'file_format', content: 'csv' }, ...parts()],
      'fileFormat: is sent twice',
    ],
    ['the file first', () => parts().toReversed(), 'action: is required, before fileName'],
    [
      'a part behind the file',
      () => [...parts(), { name: 'action', content: 'search' }],
      'fileName: must be the last part, and the only file',
    ],
    [
      'two files',
      () => [...parts(), { name: 'file', content: file }],
      'fileName: must be the last part, and the only file',
    ],
    [
      'a part in base64',
      () => [{ name: 'action', content: 'c2VhcmNo', head: ['Content-Transfer-Encoding: base64'] }],
      'body: a part has a Content-Transfer-Encoding, which is not accepted',
    ],
    [
      'another header.action',
      () => parts({ envelope: envelopeOf(file, { header: { action: 'subscribe' } }) }),
      'rjct.action.invalid: header.action: must be search on this path',
    ],
    [
      'another total_count',
      () => parts({ envelope: envelopeOf(file, { header: { total_count: 5 } }) }),
      'rjct.total_count.invalid: header.total_count: must be the number of items in message.search_request',
    ],
  ])('with %s', (_name, made, message) => refused(made(), message))

  it('with an envelope or an action that is too long', async () => {
    await refused(parts({ action: 'x'.repeat(300) }), 'action: must be at most 256 bytes', 413)
    const long = { ...envelopeOf(file), pad: 'x'.repeat(70_000) }
    await refused(parts({ envelope: long }), 'envelope: must be at most 65536 bytes', 413)
  })

  it('with a message that says it is encrypted', async () => {
    const answer = await send(
      multipartBody(parts({ envelope: envelopeOf(file, { header: { is_msg_encrypted: true } }) })),
    )
    expectFault(
      answer,
      400,
      'err.encryption.invalid',
      'header.is_msg_encrypted: a file of items is in clear; encrypt the envelope of a file with fileFormat json',
    )
  })

  it('with boundaries that are broken', async () => {
    const noEnd = 'body: ends before its last boundary'
    await refused(multipartBody(parts(), ''), noEnd)
    await refused(multipartBody(parts(), `--${BOUNDARY}`), noEnd)
    await refused(multipartBody(parts().slice(0, 1), ''), noEnd)
    await refused(Buffer.from('nonsense'), noEnd)
    await refused(Buffer.from(''), noEnd)
    const headless = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="action"\r\n--${BOUNDARY}--\r\n`
    await refused(Buffer.from(headless), 'body: a part has no head')
    const nameless = `--${BOUNDARY}\r\nContent-Type: text/plain\r\n\r\nx\r\n--${BOUNDARY}--\r\n`
    await refused(
      Buffer.from(nameless),
      'body: has a part that is none of action, fileFormat, envelope and fileName',
    )
    const expected = 'Content-Type: multipart/form-data needs a boundary of 1 to 70 characters'
    for (const type of ['multipart/form-data', `multipart/form-data; boundary=${'x'.repeat(71)}`]) {
      expectFault(await send(multipartBody(parts()), ada, type), 400, 'err.request.bad', expected)
    }
  })

  it('with too much of it, announced or not', async () => {
    const wide = csvOf([['UIN', 'x'.repeat(4_000_000)]])
    await refused(multipartBody(parts({ file: wide })), 'body: must be at most 4000000 bytes', 413)
    const body = multipartBody(
      parts({ file: csvOf(Array.from({ length: 90 }, () => ['UIN', 'x'.repeat(49_000)])) }),
    )
    const response = await fetch(`${server.url}${PATH}`, {
      method: 'POST',
      body: new Blob([new Uint8Array(body)]).stream(),
      duplex: 'half',
      headers: { ...bearer(ada), 'Content-Type': TYPE },
    })
    expect(response.status).toBe(413)
    const many = csvOf(Array.from({ length: 2_001 }, () => ['UIN', '1']))
    await refused(
      parts({ file: many, envelope: envelopeOf(many) }),
      'rjct.total_count.limit_exceeded: message.search_request: must have at most 2000 items',
    )
  })

  it.each([
    [
      'nothing',
      '',
      'csv',
      'fileName[line 1]: must be the header identifier_type,identifier_value,reference_id',
    ],
    ['another header', 'name,UIN\nx,1', 'csv', /^fileName\[line 1\]: must be the header identifier_type/],
    [
      'a column twice',
      'identifier_type,identifier_value,identifier_value\n',
      'csv',
      /^fileName\[line 1\]: must be/,
    ],
    [
      'a cell too many',
      'identifier_type,identifier_value\nUIN,1\nUIN,1,2',
      'csv',
      'fileName[line 3]: has 3 cells where the header has 2',
    ],
    [
      'an open quote',
      'identifier_type,identifier_value\nUIN,"1',
      'csv',
      'fileName[line 2]: a quote is never closed',
    ],
    [
      'an open quote of great length',
      `identifier_type,identifier_value\nUIN,"${'x'.repeat(60_000)}`,
      'csv',
      'fileName[line 2]: is longer than 50000 bytes; is a quote never closed?',
    ],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x0a]), 'csv', 'fileName[line 1]: must be UTF-8'],
    ['a NUL', 'identifier_type,identifier_value\nUIN,\0', 'csv', 'fileName[line 2]: must not hold a NUL'],
    [
      'no JSON',
      `${JSON.stringify(itemOf('1'))}\n\n{`,
      'ndjson',
      'fileName[line 3]: not JSON: a member name is expected at character 2',
    ],
    ['no object', '7', 'ndjson', 'fileName[line 1]: must be an object'],
    [
      'an item without timestamp',
      JSON.stringify({ reference_id: '1' }),
      'ndjson',
      'fileName[line 1].timestamp: is required',
    ],
    [
      'a member twice',
      '{"a":1,"a":2}',
      'ndjson',
      'fileName[line 1]: a: the member name occurs twice in one object',
    ],
    [
      'nesting',
      `{"a":${'['.repeat(61)}${']'.repeat(61)}}`,
      'ndjson',
      /^fileName\[line 1\]: a.*: nested deeper than 61 levels$/,
    ],
    [
      'a line of great length',
      `"${'x'.repeat(60_000)}"`,
      'ndjson',
      'fileName[line 1]: is longer than 50000 bytes',
    ],
    [
      'bytes that are no UTF-8 text',
      Buffer.from('"\xff"', 'latin1'),
      'ndjson',
      'fileName[line 1]: must be UTF-8',
    ],
  ])('with %s in its file', async (_name, content, fileFormat, message) => {
    const answer = await upload({ fileFormat, file: content, envelope: envelopeOf(content) })
    const told = answer.body.message.error.message
    if (typeof message === 'string') expect(told).toBe(message)
    else expect(told).toMatch(message)
    expectFault(answer, 400, 'err.request.bad', told)
  })

  it('leaves the connection in order: the next request on it is answered', async () => {
    const big = multipartBody(parts({ action: 'subscribe', file: 'x'.repeat(3_000_000) }))
    for (let round = 0; round < 5; round += 1) {
      expect((await send(big)).status).toBe(400)
      expect((await kept(await upload({ envelope: envelopeOf(file), file }))).items).toBe(1)
    }
  })

  it('on a synchronous path', async () => {
    const answer = await send(multipartBody(parts()), ada, TYPE, PATH.replace('registry/', 'registry/sync/'))
    expectFault(answer, 415, 'err.request.bad', 'Content-Type: must be application/json')
  })
})

describe('any items', () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', 'é', ' ', ',', '"', '\n', '\r\n', ';', '𝒳', '1'),
    maxLength: 12,
  })
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

  it('come through csv as they are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 20 }),
        async (rows) => {
          const lines = rows.map((row) => row.map(quoted).join(','))
          const file = ['reference_id,identifier_type,identifier_value', ...lines].join('\n')
          const { message } = await kept(await upload({ envelope: envelopeOf(file), file }))
          const read = message.search_request.map((item: ReturnType<typeof itemOf>) => {
            const { type, value } = item.search_criteria.query
            return [item.reference_id, type, value]
          })
          let line = 2
          const expected = rows.map((row) => {
            const [reference_id, type, value] = row
            const named = reference_id === '' ? String(line) : reference_id
            line += 1 + row.join('').split('\n').length - 1
            return [named, type, value]
          })
          expect(read).toEqual(expected)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('come through ndjson as they are', async () => {
    const item = fc.record({
      reference_id: cell,
      search_criteria: fc.record({
        query_type: cell,
        query: fc.dictionary(fc.constantFrom('a', 'b', 'é'), cell),
      }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 20 }), async (items) => {
        const all = items.map((one) => ({ ...one, timestamp: '2026-02-03T09:15:00.000Z' }))
        const file = all.map((one) => JSON.stringify(one)).join('\r\n')
        const { message } = await kept(
          await upload({ fileFormat: 'ndjson', envelope: envelopeOf(file), file }),
        )
        expect(message.search_request).toEqual(all)
      }),
      { numRuns: 25 },
    )
  })
})
