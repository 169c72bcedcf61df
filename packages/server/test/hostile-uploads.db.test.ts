/** Uploads that are slow, break off, lie about their length or are as large as may be, over raw sockets. */
import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { BOUNDARY, multipartBody, uploadParts } from '../../engine/test/multipart.ts'
import { type RawConnection, rawConnection } from '../../engine/test/raw-http.ts'
import { bearer, post, searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

const PATH = '/civil/v1.0.0/registry/search'
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`

let server: TestServer
let peer: TestParticipant
let open: RawConnection[] = []

beforeAll(async () => {
  server = await testServer({ limits: { request_timeout: 2, participant_rate: 1_000_000 } })
  peer = await server.participant('raw.example')
  await server.registry('civil')
})
afterEach(() => {
  for (const connection of open) connection.destroy()
  open = []
})
afterAll(() => server.close())

async function connection(to = server): Promise<RawConnection> {
  const made = await rawConnection(to.running.port)
  open.push(made)
  return made
}

const head = (length: number, more = '', token = peer.token): string =>
  `POST ${PATH} HTTP/1.1\r\nHost: rollcall\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${TYPE}\r\nContent-Length: ${length}\r\n${more}\r\n`

function uploadOf(file: string, fileFormat = 'csv'): Buffer {
  const { header } = searchRequest(peer.sender_id, {}, { header: { total_count: 0 } })
  const file_sha256 = createHash('sha256').update(file).digest('hex')
  const envelope = {
    header: { ...header, message_ts: new Date().toISOString() },
    message: { transaction_id: 'tx-1', file_sha256 },
  }
  return multipartBody(uploadParts({ envelope, file, fileFormat }))
}

const SMALL = 'identifier_type,identifier_value\nUIN,1\n'

async function expectWorking(): Promise<void> {
  const raw = await connection()
  const body = uploadOf(SMALL)
  raw.write(head(body.length), body)
  const { status, body: text } = await raw.response()
  expect([status, JSON.parse(text).message.ack_status]).toEqual([200, 'ACK'])
}

const exchanges = async (): Promise<number> => {
  const { rows } = await server.database.db.pool.query('select count(*) as count from exchange')
  return rows[0].count
}

describe('an upload', () => {
  it('may come byte by byte', async () => {
    const raw = await connection()
    const body = uploadOf(SMALL)
    raw.socket.setNoDelay(true)
    raw.write(head(body.length))
    for (const byte of body) {
      raw.write(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await raw.response()).status).toBe(200)
  })

  it('that stands still is given up at the request timeout, wherever it stands', async () => {
    const before = await exchanges()
    const body = uploadOf(SMALL)
    const lengths = [0, 10, body.indexOf('envelope'), body.indexOf('UIN,1'), body.length - 4]
    const all = await Promise.all(lengths.map(() => connection()))
    for (const [index, raw] of all.entries()) raw.write(head(body.length), body.subarray(0, lengths[index]))
    for (const raw of all) {
      const { status, body: text } = await raw.response()
      expect([status, JSON.parse(text).message.error.code]).toEqual([408, 'err.request.timeout'])
      expect(await raw.closed()).toBe('')
    }
    expect(await exchanges()).toBe(before)
    await expectWorking()
  })

  it('that breaks off anywhere leaves nothing behind', async () => {
    const before = await exchanges()
    const body = uploadOf(SMALL)
    for (let at = 0; at < body.length; at += 37) {
      const raw = await connection()
      raw.write(head(body.length), body.subarray(0, at))
      await raw.taken()
      raw.destroy()
      await raw.dropped()
    }
    expect(await exchanges()).toBe(before)
    await expectWorking()
  })

  it('is refused before its body is read: a wrong token, a length that is too much', async () => {
    const stranger = await connection()
    stranger.write(head(1_000_000, 'Expect: 100-continue\r\n', 'wrong'))
    expect((await stranger.response()).status).toBe(401)
    const large = await connection()
    large.write(head(100_000_000, 'Expect: 100-continue\r\n'))
    const { status, body } = await large.response()
    expect([status, JSON.parse(body).message.error.message]).toEqual([413, 'body: must be at most 67108864 bytes'])
  })

  it('that is refused in the middle does not hold up what follows on its connection', async () => {
    const raw = await connection()
    const wrong = multipartBody(uploadParts({ action: 'subscribe', file: 'x'.repeat(2_000_000) }))
    const body = uploadOf(SMALL)
    raw.write(head(wrong.length), wrong, head(body.length), body)
    expect((await raw.response()).status).toBe(400)
    expect((await raw.response()).status).toBe(200)
  })

  it('of thousands of parts is refused at the first that is unknown', async () => {
    const parts = Array.from({ length: 20_000 }, (_, index) => ({ name: `p${index}`, content: '' }))
    const answer = await post(`${server.url}${PATH}`, new Uint8Array(multipartBody(parts)), {
      ...bearer(peer),
      'Content-Type': TYPE,
    })
    expect([answer.status, answer.body.message.error.message]).toEqual([
      400,
      'body: has a part that is none of action, fileFormat, envelope and fileName',
    ])
  })

  it('may have a hundred thousand items, and the server answers others meanwhile', async () => {
    const rows = Array.from({ length: 100_000 }, (_, index) => `UIN,${String(index).padStart(12, '0')}`)
    const body = uploadOf(['identifier_type,identifier_value', ...rows].join('\n'))
    // A busy machine may need longer than the request timeout of the other tests.
    const patient = await testServer({ limits: { request_timeout: 60 } })
    onTestFinished(() => patient.close())
    const { token } = await patient.participant(peer.sender_id)
    await patient.registry('civil')
    const raw = await connection(patient)
    raw.write(head(body.length, '', token), body)
    let answers = 0
    let done = false
    const answered = raw.response().finally(() => (done = true))
    while (!done) {
      expect((await fetch(`${patient.url}/health`)).status).toBe(200)
      answers += 1
    }
    const { status, body: text } = await answered
    expect(status).toBe(200)
    const { rows: accepted } = await patient.database.db.pool.query(
      'select items from accepted_exchange where correlation_id = $1',
      [JSON.parse(text).message.correlation_id],
    )
    expect(accepted).toEqual([{ items: 100_000 }])
    expect(answers).toBeGreaterThan(5)
  })
})
