import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { multipartBody, type Part, uploadParts } from '../../../../../engine/test/multipart.ts'
import { expectFault } from '../../../expectations.ts'
import { type Peer, sealingPeer, signedBody } from '../../../sealing.ts'
import { searchRequest } from '../../../server.ts'
import { csvOf, envelopeOf, itemOf, sha256, type Uploading, uploading } from '../../../uploading.ts'

let uploads: Uploading
let signer: Peer
beforeAll(async () => {
  uploads = await uploading()
  signer = await sealingPeer(uploads.server, 'signs.demo')
})
afterAll(() => uploads.server.close())

describe('a file that is taken', () => {
  it('is csv: one identifier a row, named by its line or by a column of its own', async () => {
    const plain = csvOf([
      ['UIN', '0012'],
      ['BRN', '"B ""5"", 521"'],
    ])
    const first = await uploads.persisted(await uploads.upload({ envelope: envelopeOf(plain), file: plain }))
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
    const second = await uploads.persisted(await uploads.upload({ envelope: envelopeOf(named), file: named }))
    expect(second.message.search_request).toMatchObject([
      { reference_id: 'a-1', ...query('UIN', '0012'), timestamp: second.header.message_ts },
      { reference_id: '4', ...query('UIN', ''), timestamp: second.header.message_ts },
    ])
  })

  it('is ndjson: one item a line, in every spelling that a plain message may have', async () => {
    const items = [itemOf('r-1'), { ...itemOf('r-2'), locale: '' }]
    const file = `${items.map((item) => JSON.stringify(item)).join('\n')}\n\n`
    const envelope = envelopeOf(file, { header: { total_count: 2 } })
    const { message } = await uploads.persisted(await uploads.upload({ fileFormat: 'NDJSON', envelope, file }))
    expect(message.search_request).toEqual([itemOf('r-1'), itemOf('r-2')])
  })

  it('is json: the whole envelope, under the limits of a plain body, and the default', async () => {
    const request = searchRequest(uploads.ada.sender_id, { type: 'UIN', value: '1' }, { header: { total_count: 1 } })
    for (const fileFormat of ['json', null]) {
      const changed = { ...request, header: { ...request.header, message_id: `json ${fileFormat}` } }
      const answer = await uploads.upload({ fileFormat, file: JSON.stringify(changed) })
      expect((await uploads.persisted(answer)).message).toEqual(request.message)
    }
    const search_request = Array.from({ length: 11 }, (_, index) => itemOf(`r-${index}`))
    const many = searchRequest(uploads.ada.sender_id, {}, { header: { total_count: 0 }, message: { search_request } })
    expectFault(
      await uploads.upload({ fileFormat: 'json', file: JSON.stringify(many) }),
      400,
      'err.request.bad',
      'rjct.total_count.limit_exceeded: message.search_request: must have at most 10 items',
    )
    expectFault(
      await uploads.upload({ fileFormat: 'json', file: `${JSON.stringify(request)}${' '.repeat(50_000)}` }),
      413,
      'err.request.bad',
      'fileName: must be at most 50000 bytes',
    )
  })

  it('has parts under their other names, and a digest in base64url', async () => {
    const file = csvOf([['UIN', '1']])
    const envelope = envelopeOf(file, { message: { file_sha256: sha256(file, 'base64url') } })
    const names: Readonly<Record<string, string>> = { fileFormat: 'file_format', fileName: 'file' }
    const parts = uploadParts({ envelope, file }).map((part) => ({ ...part, name: names[part.name] ?? part.name }))
    expect((await uploads.persisted(await uploads.send(multipartBody(parts)))).items).toBe(1)
  })

  it.each([
    ['as the standard lists them', ['action', 'fileName', 'fileFormat', 'envelope']],
    ['the file first', ['fileName', 'envelope', 'fileFormat', 'action']],
    ['the envelope last', ['fileFormat', 'action', 'fileName', 'envelope']],
  ])('has its parts in any order where it is no longer than a plain body: %s', async (_name, order) => {
    const inOrder = (parts: readonly Part[]) =>
      multipartBody(parts.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)))
    const file = csvOf(Array.from({ length: 900 }, (_, index) => ['UIN', `${index}-${'x'.repeat(40)}`]))
    const bulk = await uploads.persisted(await uploads.send(inOrder(uploadParts({ envelope: envelopeOf(file), file }))))
    expect(bulk.items).toBe(900)
    const request = searchRequest(
      uploads.ada.sender_id,
      { type: 'UIN', value: '1' },
      { header: { total_count: 1, message_id: `in order ${order}` } },
    )
    const whole = uploadParts({ fileFormat: 'json', file: JSON.stringify(request) })
    expect((await uploads.persisted(await uploads.send(inOrder(whole)))).message).toEqual(request.message)
  })

  it('may be large: its items are persisted in the order of the file', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => ['UIN', `${index}-${'x'.repeat(1_000)}`])
    const file = csvOf(rows)
    const { items, message } = await uploads.persisted(await uploads.upload({ envelope: envelopeOf(file), file }))
    expect(items).toBe(2_000)
    expect(message.search_request.map((item: ReturnType<typeof itemOf>) => item.search_criteria.query.value)).toEqual(
      rows.map(([, value]) => value),
    )
  })

  it('has the same ack when it comes again, and is another message with another file', async () => {
    const file = csvOf([['UIN', '7']])
    const envelope = envelopeOf(file)
    const first = await uploads.upload({ envelope, file })
    const before = await uploads.acceptedCount()
    const again = await uploads.upload({ envelope, file })
    expect(again.body.message).toMatchObject({ ack_status: 'ACK', correlation_id: first.body.message.correlation_id })
    const other = csvOf([['UIN', '8']])
    const changed = { ...envelope, message: { ...envelope.message, file_sha256: sha256(other) } }
    expectFault(
      await uploads.upload({ envelope: changed, file: other }),
      400,
      'err.request.bad',
      'rjct.message_id.duplicate: header.message_id: was used before for another message',
    )
    expect(await uploads.acceptedCount()).toBe(before)
  })
})

describe('the signature of a file', () => {
  const file = csvOf([['UIN', '0012']])
  const signed = (message: object = {}, changes: object = {}) =>
    signedBody(signer, { ...envelopeOf(file, { message }, signer.sender_id), ...changes })

  it('covers it by its digest', async () => {
    expect((await uploads.persisted(await uploads.upload({ envelope: signed(), file }, signer))).items).toBe(1)
    expectFault(
      await uploads.upload({ envelope: signed(), file: `${file}\r\nUIN,13` }, signer),
      401,
      'err.signature.invalid',
      'message.file_sha256: must be the SHA-256 of the file',
    )
  })

  it('is checked before the file: a sender that cannot sign learns nothing about the file', async () => {
    const body = JSON.parse(signed())
    body.message.transaction_id = 'tx-other'
    const answer = await uploads.upload({ envelope: body, file: 'nonsense' }, signer)
    expect([answer.status, answer.body.message.error.code]).toEqual([401, 'err.signature.invalid'])
  })

  it.each([
    ['no envelope', { envelope: null }, 'signature: is required'],
    ['no signature', { unsigned: true }, 'signature: is required'],
    ['no digest', { file_sha256: undefined }, 'message.file_sha256: is required, so that the signature covers the file'],
  ])('is missing with %s', async (_name, change, text) => {
    const { envelope, unsigned, ...message } = { envelope: undefined, unsigned: false, ...change }
    const sent = unsigned ? envelopeOf(file, {}, signer.sender_id) : signed(message)
    const answer = await uploads.upload({ envelope: envelope === null ? null : sent, file }, signer)
    expectFault(answer, 401, 'err.signature.missing', answer.body.message.error.message)
    expect(answer.body.message.error.message).toContain(text.split(':')[0])
  })

  it('who need not sign needs no digest, but one that is given counts', async () => {
    const without = envelopeOf(file, { message: { file_sha256: undefined } })
    expect((await uploads.persisted(await uploads.upload({ envelope: without, file }))).items).toBe(1)
    const wrong = envelopeOf('another file')
    expectFault(
      await uploads.upload({ envelope: wrong, file }),
      401,
      'err.signature.invalid',
      'message.file_sha256: must be the SHA-256 of the file',
    )
    for (const file_sha256 of ['x', 7, 'a'.repeat(63)]) {
      expectFault(
        await uploads.upload({ envelope: envelopeOf(file, { message: { file_sha256 } }), file }),
        400,
        'err.request.bad',
        'message.file_sha256: must be the SHA-256 of the file, in hexadecimal or base64url',
      )
    }
  })
})
