/** HTTP of an attacker: slow, broken, ambiguous or huge, over raw sockets. */
import { ErrorAnswer, validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawConnection, type RawResponse, rawConnection } from '../../engine/test/raw-http.ts'
import { searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

const PATH = '/civil/v1.0.0/registry/sync/search'
const MAX_BODY = 20_000

let server: TestServer
let peer: TestParticipant
let connection: RawConnection | undefined

beforeAll(async () => {
  server = await testServer({ limits: { request_timeout: 1, body_bytes: MAX_BODY, participant_rate: 1_000_000 } })
  peer = await server.participant('raw.example')
  await server.registry('civil', [{ identifier: [{ identifier_type: 'UIN', identifier_value: 'raw-1' }] }])
})

afterAll(async () => {
  connection?.destroy()
  await server.close()
})

const message = () => JSON.stringify(searchRequest(peer.sender_id, { type: 'UIN', value: 'raw-1' }))
/** The head of a valid request without its last empty line and without a length. */
const head = (path = PATH, method = 'POST', version = '1.1') =>
  `${method} ${path} HTTP/${version}\r\nHost: rollcall\r\nContent-Type: application/json\r\nAuthorization: Bearer ${peer.token}\r\n`
const whole = (path = PATH, version = '1.1') =>
  `${head(path, 'POST', version)}Content-Length: ${message().length}\r\n\r\n${message()}`

async function open(...parts: readonly (string | Buffer)[]): Promise<RawConnection> {
  connection?.destroy()
  connection = await rawConnection(server.running.port)
  connection.write(...parts)
  return connection
}

const errorAnswers = validator(ErrorAnswer)

function expectFault({ status, headers, body }: RawResponse, expected: number, code: string, text: string) {
  const answer = JSON.parse(body)
  expect(errorAnswers.problem(answer, '')).toBeNull()
  expect([status, answer.message.error]).toEqual([expected, { code, message: text }])
  expect(headers.get('content-type')).toBe('application/json')
}

function expectFound({ status, body }: RawResponse): void {
  expect(status).toBe(200)
  expect(JSON.parse(body).message.search_response[0].data.reg_records).toHaveLength(1)
}

describe('slow', () => {
  it('whatever does not arrive is given up after the request timeout', async () => {
    const beginnings = [
      '',
      head(),
      `${head()}Content-Length: 900\r\n\r\n{`,
      `${head()}Transfer-Encoding: chunked\r\n\r\n5\r\n{`,
      `${head('/oauth2/client/token')}Content-Length: 9\r\n\r\n{`,
    ]
    const all = await Promise.all(beginnings.map(() => rawConnection(server.running.port)))
    for (const [index, raw] of all.entries()) raw.write(beginnings[index] ?? '')
    for (const raw of all) {
      expectFault(await raw.response(), 408, 'err.request.timeout', 'the request did not arrive in time')
      expect(await raw.closed()).toBe('')
    }
  })

  it('a body in drops is given up as well', async () => {
    const raw = await open(`${head()}Content-Length: 900\r\n\r\n`)
    const drops = setInterval(() => raw.write(' '), 50)
    try {
      expect((await raw.response()).status).toBe(408)
    } finally {
      clearInterval(drops)
    }
  })

  it('an unknown path and a wrong method are told at once, whatever is still to come', async () => {
    // Later they would be 408.
    const unknown = await open(`${head('/nowhere/at/all')}Content-Length: 900\r\n\r\n{`)
    expectFault(await unknown.response(), 404, 'err.request.not_found', 'there is no such namespace or path here')
    const method = await open(`${head(PATH, 'PUT')}Content-Length: 900\r\n\r\n{`)
    expectFault(await method.response(), 405, 'err.request.bad', 'the method must be POST')
    // The rest never comes: the connection ends, without a second answer to the same request.
    expect(await method.closed()).toBe('')
  })

  it('a peer that does not fetch its answer does not keep it in memory', async () => {
    const wide = Array.from({ length: 40 }, (_, index) => ({
      identifier: [{ identifier_type: 'UIN', identifier_value: `wide-${index}` }],
      phone_number: ['+1 555 0199'],
      pad: 'x'.repeat(400_000),
    }))
    await server.registry('civil', wide, 'wide')
    const body = JSON.stringify(
      searchRequest(peer.sender_id, { type: 'MOBILE', value: '+1 555 0199' }, { criteria: { pagination: { page_size: 40 } } }),
    )
    const raw = await open()
    raw.socket.pause()
    raw.write(`${head(PATH.replace('civil', 'wide'))}Content-Length: ${body.length}\r\n\r\n${body}`)
    await raw.dropped()
    raw.socket.resume()
    await expect(raw.response()).rejects.toThrow(/^closed before a whole response/)
  })
})

describe('ambiguous or broken', () => {
  const unreadable = 'the request is not readable HTTP'
  it.each<[string, () => string, string]>([
    [
      'Content-Length and Transfer-Encoding',
      () => `${head()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n`,
      unreadable,
    ],
    ['two lengths', () => `${head()}Content-Length: 5\r\nContent-Length: 6\r\n\r\n123456`, unreadable],
    ['the same length twice', () => `${head()}Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345`, unreadable],
    ['a signed length', () => `${head()}Content-Length: +5\r\n\r\n12345`, unreadable],
    ['a length beyond counting', () => `${head()}Content-Length: 99999999999999999999\r\n\r\n1`, unreadable],
    ['chunked, but not last', () => `${head()}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, unreadable],
    ['a header folded over two lines', () => `${head()}X-A: b\r\n c\r\nContent-Length: 1\r\n\r\n1`, unreadable],
    ['a space before the colon', () => `${head()}Content-Length : 5\r\n\r\n12345`, unreadable],
    ['lines that end in LF only', () => whole().replaceAll('\r\n', '\n'), unreadable],
    ['a chunk size that is no number', () => `${head()}Transfer-Encoding: chunked\r\n\r\nzz\r\n1\r\n0\r\n\r\n`, unreadable],
    [
      'chunk extensions without end',
      () => `${head()}Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(40_000)}\r\n1\r\n0\r\n\r\n`,
      unreadable,
    ],
    ['a method of nobody', () => 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', unreadable],
    ['TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', unreadable],
    ['a head that is too large', () => `${head()}X: ${'a'.repeat(20_000)}\r\n\r\n`, 'the headers must be at most 16384 bytes'],
    ['no Host', () => 'GET /health HTTP/1.1\r\n\r\n', 'Host: is required'],
    ['two Hosts', () => whole().replace('\r\n', '\r\nhost: elsewhere\r\n'), 'Host: must be sent once'],
    ['the same Host twice', () => whole().replace('\r\n', '\r\nHOST: rollcall\r\n'), 'Host: must be sent once'],
    ['two Authorizations', () => whole().replace('\r\n', '\r\nAuthorization: Bearer x\r\n'), 'Authorization: must be sent once'],
    ['two Content-Types', () => whole().replace('\r\n', '\r\ncontent-type: text/plain\r\n'), 'Content-Type: must be sent once'],
    [
      'a path that decodes to nothing',
      () => whole('/%ff/v1.0.0/registry/sync/search'),
      'the address of the request is malformed',
    ],
  ])('%s', async (_name, sent, text) => {
    const raw = await open(sent())
    expectFault(await raw.response(), 400, 'err.request.bad', text)
    // Nothing behind the ambiguity is taken for a request.
    raw.socket.end()
    expect(await raw.closed()).toBe('')
  })

  it('garbage after an answer that was given early is not answered a second time', async () => {
    const raw = await open(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n`)
    expect((await raw.response()).status).toBe(401)
    raw.write('not a chunk\r\n')
    expect(await raw.closed()).toBe('')
  })

  it('what is not readable leaves a line with its address', async () => {
    await (await open('FOO / HTTP/1.1\r\nHost: x\r\n\r\n')).response()
    expect(server.logged()).toMatch(
      /"level":"warn".*"refusal":"err\.request\.bad","participant":null,"address":"127\.0\.0\.1","count":\d+,"msg":"requests were refused"/,
    )
  })

  it('a sender that breaks off harms nobody', async () => {
    const raw = await open(`${head()}Content-Length: 900\r\n\r\n{`)
    raw.destroy()
    expectFound(await (await open(whole())).response())
    expect(server.logged()).not.toMatch(/"level":"error"/)
  })
})

describe('unusual and allowed', () => {
  it('pipelined requests are answered in their order', async () => {
    const raw = await open(`${whole()}${whole('/nowhere/at/all')}${whole()}GET /health HTTP/1.1\r\nHost: x\r\n\r\n`)
    expectFound(await raw.response())
    expect((await raw.response()).status).toBe(404)
    expectFound(await raw.response())
    expect((await raw.response()).body).toBe('{"status":"ok"}')
  })

  it('a body in one-byte chunks with extensions', async () => {
    const chunks = [...message()].map((letter) => `1;x=y\r\n${letter}\r\n`).join('')
    const raw = await open(`${head()}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    expectFound(await raw.response())
  })

  it.each([
    ['HTTP/1.0', () => whole(PATH, '1.0')],
    ['an absolute address', () => whole(`http://elsewhere.example${PATH}`)],
    ['a letter of the path as percent', () => whole(PATH.replace('c', '%63'))],
    ['a slash at the end', () => whole(`${PATH}/`)],
    ['a query string', () => whole(`${PATH}?a=b`)],
    ['an expectation of nobody', () => `${head()}Expect: cake\r\nContent-Length: ${message().length}\r\n\r\n${message()}`],
  ])('%s', async (_name, sent) => {
    expectFound(await (await open(sent())).response())
  })

  it.each([`/${PATH}`, PATH.replace('v1', '/v1'), `/.${PATH}`, PATH.toUpperCase(), PATH.replace('y/s', 'y%2fs')])(
    'is another path: %s',
    async (path) => {
      const raw = await open(whole(path))
      expectFault(await raw.response(), 404, 'err.request.not_found', 'there is no such namespace or path here')
    },
  )

  it('100 Continue comes when the token is good, and only then', async () => {
    const expecting = `Expect: 100-continue\r\nContent-Length: ${message().length}\r\n\r\n`
    const raw = await open(`${head()}${expecting}`)
    expect((await raw.response()).status).toBe(100)
    raw.write(message())
    expectFound(await raw.response())
    const stranger = await open(`POST ${PATH} HTTP/1.1\r\nHost: x\r\n${expecting}`)
    expect((await stranger.response()).status).toBe(401)
  })

  it.each(['GET', 'OPTIONS', 'TRACE', 'QUERY', 'PATCH', 'DELETE', 'PROPFIND', 'SEARCH', 'PURGE', 'LINK'])(
    'method %s',
    async (method) => {
      const response = await (await open(`${head(PATH, method)}\r\n`)).response()
      expectFault(response, 405, 'err.request.bad', 'the method must be POST')
      expect(response.headers.get('allow')).toBe('POST')
    },
  )

  it('HEAD is told without a body', async () => {
    const raw = await open(`HEAD ${PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(await raw.closed()).toMatch(/^HTTP\/1\.1 405 [\s\S]*\r\n\r\n$/)
  })

  it('CONNECT finds no proxy', async () => {
    const raw = await open('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n')
    expectFault(await raw.response(), 405, 'err.request.bad', 'this server is not a proxy')
  })

  it('assets are two files, whatever conditions and ranges are asked', async () => {
    for (const name of ['%00', '..%5c..', '.', 'a'.repeat(5_000), 'index.html']) {
      const raw = await open(`GET /assets/reference/${name} HTTP/1.1\r\nHost: x\r\n\r\n`)
      expect((await raw.response()).status).toBe(404)
    }
    for (const header of ['Range: bytes=99999999-', 'If-Match: "x"', 'If-None-Match: *']) {
      const raw = await open(`GET /assets/reference/swagger-ui.css HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`)
      expect((await raw.response()).status).toBe(200)
    }
    expect(server.logged()).not.toMatch(/"level":"error"/)
  })
})

describe('large', () => {
  it.each([
    ['announced', (size: number) => `Content-Length: ${size}\r\n\r\n`],
    ['in one chunk', (size: number) => `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`],
  ])('a refusal reaches a sender that is still sending, %s, and the connection ends', async (_name, length) => {
    const size = 3_000_000
    const raw = await open(`POST ${PATH} HTTP/1.1\r\nHost: x\r\n${length(size)}`)
    raw.write(Buffer.alloc(size / 2, 'x'))
    const answer = await raw.response()
    expect([answer.status, answer.headers.get('connection')]).toEqual([401, 'close'])
    raw.write(Buffer.alloc(size / 2, 'x'))
    raw.socket.end()
    expect(await raw.closed()).toBe('')
  })

  it('of an endless body little is read after a refusal', async () => {
    const raw = await open(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 500000000\r\n\r\n`)
    expect((await raw.response()).status).toBe(401)
    const piece = Buffer.alloc(1_048_576, 'x')
    let pieces = 0
    while (!raw.socket.destroyed && pieces < 400) {
      pieces += 1
      await new Promise((resolve) => {
        raw.socket.write(piece, resolve)
        raw.socket.once('close', resolve)
      })
    }
    // The pieces that were read, and those in the buffers of both sockets.
    expect(pieces).toBeLessThan(40)
  })

  it('a small rest of a refused request is read, and the connection goes on', async () => {
    const raw = await open(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n`)
    raw.write(Buffer.alloc(30_000, 'x'))
    const answer = await raw.response()
    expect([answer.status, answer.headers.get('connection')]).toEqual([401, 'keep-alive'])
    raw.write(Buffer.alloc(30_000, 'x'), whole())
    expectFound(await raw.response())
  })

  it('a body over the limit, announced, and the next request on the connection', async () => {
    const body = `Content-Length: ${MAX_BODY + 1}\r\n\r\n${' '.repeat(MAX_BODY + 1)}`
    const raw = await open(`${head()}${body}${whole()}`)
    expectFault(await raw.response(), 413, 'err.request.bad', `body: must be at most ${MAX_BODY} bytes`)
    expectFound(await raw.response())
  })

  it('a body over the limit, in chunks, ends the connection', async () => {
    const raw = await open(`${head()}Transfer-Encoding: chunked\r\n\r\n${'4e20\r\n'}${' '.repeat(MAX_BODY)}\r\n1\r\n `)
    expectFault(await raw.response(), 413, 'err.request.bad', `body: must be at most ${MAX_BODY} bytes`)
    raw.socket.end()
    expect(await raw.closed()).toBe('')
  })
})

describe('many', () => {
  it('200 connections at once are all answered', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => rawConnection(server.running.port)))
    for (const raw of all) raw.write(whole())
    const answers = await Promise.all(all.map((raw) => raw.response()))
    for (const answer of answers) expectFound(answer)
    for (const raw of all) raw.destroy()
  })
})
