import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BOUNDARY, multipartBody, type Part, uploadParts } from '../../../../../engine/test/multipart.ts'
import { expectFault } from '../../../expectations.ts'
import { bearer } from '../../../server.ts'
import { csvOf, envelopeOf, itemOf, UPLOAD_PATH, UPLOAD_TYPE, type Uploading, uploading } from '../../../uploading.ts'

let uploads: Uploading
beforeAll(async () => {
  uploads = await uploading()
})
afterAll(() => uploads.server.close())

describe('an upload that is refused', () => {
  const file = csvOf([['UIN', '1']])
  const parts = (changes: Partial<Parameters<typeof uploadParts>[0]> = {}) =>
    uploadParts({ envelope: envelopeOf(file), file, ...changes })
  const refused = async (sent: readonly Part[] | Buffer, message: string, status = 400) => {
    const before = await uploads.acceptedCount()
    const answer = await uploads.send(Buffer.isBuffer(sent) ? sent : multipartBody(sent as readonly Part[]))
    expectFault(answer, status, 'err.request.bad', message)
    expect(await uploads.acceptedCount()).toBe(before)
  }

  it.each<[string, () => readonly Part[], string]>([
    ['no action', () => parts({ action: null }), 'action: is required, before a file that is long'],
    ['another action', () => parts({ action: 'subscribe' }), 'action: must be search on this path'],
    ['another format', () => parts({ fileFormat: 'xlsx' }), 'fileFormat: must be one of json, ndjson, csv on this path'],
    ['no file', () => parts().slice(0, -1), 'fileName: the part with the file is required'],
    ['no parts', () => [], 'fileName: the part with the file is required'],
    ['no envelope', () => parts({ envelope: null }), 'envelope: is required where fileFormat is csv, before a file that is long'],
    ['an envelope beside json', () => parts({ fileFormat: 'json' }), 'envelope: stands in the file where fileFormat is json'],
    ['an envelope that is no JSON', () => parts({ envelope: '{' }), 'not JSON: a member name is expected at character 2'],
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
    ['a part twice under two names', () => [{ name: 'file_format', content: 'csv' }, ...parts()], 'fileFormat: is sent twice'],
    [
      'a long file before the action',
      () => parts({ file: 'x'.repeat(60_000) }).toReversed(),
      'action: is required, before a file that is long',
    ],
    [
      'a long file before the envelope',
      () => {
        const [action, fileFormat, envelope, long] = parts({ file: 'x'.repeat(60_000) }) as [Part, Part, Part, Part]
        return [action, fileFormat, long, envelope]
      },
      'envelope: is required where fileFormat is csv, before a file that is long',
    ],
    [
      'a file twice, the first before its format',
      () => [{ name: 'fileName', content: file }, ...parts()],
      'fileName: is sent twice',
    ],
    [
      'a part behind the file',
      () => [...parts(), { name: 'action', content: 'search' }],
      'fileName: must be the last part, and the only file',
    ],
    ['two files', () => [...parts(), { name: 'file', content: file }], 'fileName: must be the last part, and the only file'],
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
    const answer = await uploads.send(
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
    await refused(Buffer.from(nameless), 'body: has a part that is none of action, fileFormat, envelope and fileName')
    const expected = 'Content-Type: multipart/form-data needs a boundary of 1 to 70 characters'
    for (const type of ['multipart/form-data', `multipart/form-data; boundary=${'x'.repeat(71)}`]) {
      expectFault(await uploads.send(multipartBody(parts()), uploads.ada, type), 400, 'err.request.bad', expected)
    }
  })

  it('with too much of it, announced or not', async () => {
    const wide = csvOf([['UIN', 'x'.repeat(4_000_000)]])
    await refused(multipartBody(parts({ file: wide })), 'body: must be at most 4000000 bytes', 413)
    const body = multipartBody(parts({ file: csvOf(Array.from({ length: 90 }, () => ['UIN', 'x'.repeat(49_000)])) }))
    const response = await fetch(`${uploads.server.url}${UPLOAD_PATH}`, {
      method: 'POST',
      body: new Blob([new Uint8Array(body)]).stream(),
      duplex: 'half',
      headers: { ...bearer(uploads.ada), 'Content-Type': UPLOAD_TYPE },
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
      'fileName[line 1]: must be the header identifier_type,identifier_value, with or without reference_id and reg_type',
    ],
    ['another header', 'name,UIN\nx,1', 'csv', /^fileName\[line 1\]: must be the header identifier_type/],
    ['a column twice', 'identifier_type,identifier_value,identifier_value\n', 'csv', /^fileName\[line 1\]: must be/],
    [
      'a cell too many',
      'identifier_type,identifier_value\nUIN,1\nUIN,1,2',
      'csv',
      'fileName[line 3]: has 3 cells, and the header line has 2',
    ],
    ['an open quote', 'identifier_type,identifier_value\nUIN,"1', 'csv', 'fileName[line 2]: a quote is never closed'],
    [
      'an open quote of great length',
      `identifier_type,identifier_value\nUIN,"${'x'.repeat(60_000)}`,
      'csv',
      'fileName[line 2]: is longer than 50000 bytes; look for a quotation mark that is never closed',
    ],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x0a]), 'csv', 'fileName[line 1]: must be UTF-8'],
    ['a NUL', 'identifier_type,identifier_value\nUIN,\0', 'csv', 'fileName[line 2]: must not have a NUL character'],
    [
      'no JSON',
      `${JSON.stringify(itemOf('1'))}\n\n{`,
      'ndjson',
      'fileName[line 3]: not JSON: a member name is expected at character 2',
    ],
    ['no object', '7', 'ndjson', 'fileName[line 1]: must be an object'],
    ['an item without timestamp', JSON.stringify({ reference_id: '1' }), 'ndjson', 'fileName[line 1].timestamp: is required'],
    ['a member twice', '{"a":1,"a":2}', 'ndjson', 'fileName[line 1]: a: the member name occurs twice in one object'],
    [
      'an object of many names',
      `{"a":{${Array.from({ length: 1_001 }, (_, index) => `"n${index}":1`).join(',')}`,
      'ndjson',
      'fileName[line 1]: a: must have at most 1000 names',
    ],
    ['an item of many values', `{"a":[${'1,'.repeat(10_000)}`, 'ndjson', 'fileName[line 1]: must have at most 10000 values'],
    [
      'a row of a space that is none',
      'identifier_type,identifier_value\n\u00a0\n',
      'csv',
      'fileName[line 2]: has 1 cells, and the header line has 2',
    ],
    ['nesting', `{"a":${'['.repeat(61)}${']'.repeat(61)}}`, 'ndjson', /^fileName\[line 1\]: a.*: nested deeper than 61 levels$/],
    ['a line of great length', `"${'x'.repeat(60_000)}"`, 'ndjson', 'fileName[line 1]: is longer than 50000 bytes'],
    ['bytes that are no UTF-8 text', Buffer.from('"\xff"', 'latin1'), 'ndjson', 'fileName[line 1]: must be UTF-8'],
  ])('with %s in its file', async (_name, content, fileFormat, message) => {
    const answer = await uploads.upload({ fileFormat, file: content, envelope: envelopeOf(content) })
    const text = answer.body.message.error.message
    if (typeof message === 'string') expect(text).toBe(message)
    else expect(text).toMatch(message)
    expectFault(answer, 400, 'err.request.bad', text)
  })

  it('leaves the connection in order: the next request on it is answered', async () => {
    const big = multipartBody(parts({ action: 'subscribe', file: 'x'.repeat(3_000_000) }))
    for (let round = 0; round < 5; round += 1) {
      expect((await uploads.send(big)).status).toBe(400)
      expect((await uploads.persisted(await uploads.upload({ envelope: envelopeOf(file), file }))).items).toBe(1)
    }
  })

  it('on a synchronous path', async () => {
    const answer = await uploads.send(
      multipartBody(parts()),
      uploads.ada,
      UPLOAD_TYPE,
      UPLOAD_PATH.replace('registry/', 'registry/sync/'),
    )
    expectFault(answer, 415, 'err.request.bad', 'Content-Type: must be application/json or application/*+json')
  })
})
