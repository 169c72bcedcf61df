import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { notify, onSearch, onSubscribe, signed } from '../../../client/test/callbacks.ts'
import { demoServer, otherRegistry, postCallback } from '../../test/asking.ts'
import { type Running, rollcall, rollcallJson, start, until } from '../../test/command.ts'

/** Its keys sign what these tests send. */
let made: Awaited<ReturnType<typeof otherRegistry>>
let demo: Awaited<ReturnType<typeof demoServer>>
beforeAll(async () => {
  made = await otherRegistry([])
  demo = await demoServer()
})
afterAll(async () => {
  await made.close()
  await demo.close()
})

let running: Running
afterEach(async () => {
  await running.stop()
})

/** Starts it and gives the address at which it listens. */
async function listening(...words: string[]): Promise<string> {
  return listeningBeside(made.home, 'civil.example', ...words)
}

async function listeningBeside(
  { env }: { readonly env: Readonly<Record<string, string>> },
  whose: string,
  ...words: string[]
): Promise<string> {
  running = start(['listen', '--port', '0', ...words], env)
  const match = await until(running, () => /^listening on (\S+) for (.*)$/m.exec(running.output().stderr))
  expect(match[2]).toBe(`callbacks of ${whose}; Ctrl-C ends it`)
  return match[1] ?? ''
}

/** Asks the demo for somebody, to be answered at this address; the ack. */
const asked = (sender_uri: string) =>
  rollcallJson(['search', '--identifier', 'UIN=0012', '--sender-uri', sender_uri], demo.home.env)

describe('beside a demo', () => {
  const REGISTRIES = 'civil.example, ibr.example'

  test('what the server calls back is printed, and the server hears that it has arrived', async () => {
    const url = await listeningBeside(demo.home, REGISTRIES)
    const { correlation_id, transaction_id } = await asked(`${url}/anything`)
    await until(running, () => /item 1: succ, 1 record\n/.exec(running.output().stdout))
    const { stdout } = await running.stop('SIGINT')
    expect(stdout).toContain('Z  on-search from civil.example, signed\n')
    expect(stdout).toContain(`  transaction  ${transaction_id}\n  correlation  ${correlation_id}\n  status       succ\n`)
    const states = 'select state from delivery where correlation_id = $1'
    const { rows } = await demo.server.database.db.pool.query(states, [correlation_id])
    expect(rows).toEqual([{ state: 'delivered' }])
  })

  test('the server sends again what the command of --exec does not take, the same each time', async () => {
    const gate = join(demo.home.path, 'gate')
    const command = `cat > /dev/null; echo tried; test -e '${gate}'`
    const url = await listeningBeside(demo.home, REGISTRIES, '--json', '--exec', command)
    await asked(url)
    await until(running, () => (running.output().stderr.match(/tried\n/g)?.length ?? 0) > 1 || null)
    await writeFile(gate, '')
    const last = running.output().stderr.length
    await until(running, () => /tried\n(?!rollcall)/.exec(running.output().stderr.slice(last)))
    const { stdout, stderr } = await running.stop('SIGINT')
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.length).toBeGreaterThan(2)
    expect(new Set(lines.map(({ message_id }) => message_id)).size).toBe(1)
    const refusals = stderr.match(/^rollcall: the command of --exec ended with 1; .*$/gm)
    expect(refusals).toHaveLength(lines.length - 1)
  })
})

const RECORD = { name: 'Ada' }
const found = {
  message: {
    search_response: [{ reference_id: '1', timestamp: '2026-01-01T00:00:00Z', status: 'succ', data: { reg_records: [RECORD] } }],
  },
}

describe('what arrives', () => {
  test('is printed in a block each, without what it says of people, and acknowledged', async () => {
    const url = await listening()
    const message = onSearch(found)
    expect(await postCallback(`${url}/anything`, signed(message))).toBe(200)
    expect(await postCallback(`${url}/registry/notify`, signed(notify()))).toBe(200)
    expect(await postCallback(url, signed(onSubscribe()))).toBe(200)
    const { code, stdout } = await running.stop('SIGINT')
    expect(code).toBe(0)
    const [first, second, third] = stdout.split('\n\n')
    expect(first?.split('\n')).toEqual([
      expect.stringMatching(/^\d{4}-.*Z {2}on-search from civil\.example, signed$/),
      `  message      ${(message.header as { message_id: string }).message_id}`,
      '  transaction  tx-1',
      '  correlation  c-1',
      '  status       succ',
      '  item 1: succ, 1 record',
    ])
    expect(second).toMatch(/Z {2}notify from civil\.example, signed\n[\s\S]*\n {2}item 1: Death, 1 record$/)
    expect(third).toMatch(/Z {2}on-subscribe from civil\.example, signed\n[\s\S]*\n {2}item 1: succ$/)
    expect(stdout).not.toContain('Ada')
  })

  test('is printed with --body, once however often it comes', async () => {
    const url = await listening('--body', '--json')
    const body = signed(onSearch(found))
    expect(await postCallback(url, body)).toBe(200)
    expect(await postCallback(url, body)).toBe(200)
    const { stdout } = await running.stop()
    const said = JSON.parse(stdout)
    expect(said).toMatchObject({ callback: 'on-search', sender_id: 'civil.example', items: [{ records: 1 }] })
    expect(said.body.search_response[0].data.reg_records).toEqual([RECORD])
  })

  test('is refused where it does not verify, and that is said', async () => {
    const url = await listening()
    expect(await postCallback(url, signed(onSearch()).replace('tx-1', 'tx-2'))).toBe(401)
    expect(await postCallback(url, JSON.stringify(onSearch()))).toBe(401)
    const { stdout } = await running.stop()
    const [altered, unsigned] = stdout.split('\n\n')
    expect(altered).toMatch(/Z {2}refused: err\.signature\.invalid: signature: .* \(HTTP 401\)$/)
    expect(unsigned).toMatch(/refused: err\.signature\.missing: signature: the message has no signature \(HTTP 401\)$/)
  })

  test('is taken unsigned where --verify says so', async () => {
    const url = await listening('--verify', 'if-present')
    expect(await postCallback(url, JSON.stringify(onSearch()))).toBe(200)
    expect((await running.stop()).stdout).toContain('on-search from civil.example, not signed\n')
  })
})

describe('--exec', () => {
  test('hands each envelope over and acknowledges when the command has ended', async () => {
    const file = join(made.home.path, 'taken.ndjson')
    const url = await listening('--exec', `cat >> '${file}'`)
    const posts = [onSearch(found), notify()].map((message) => postCallback(url, signed(message)))
    expect(await Promise.all(posts)).toEqual([200, 200])
    const taken = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const search = taken.find(({ header }) => header.action === 'on-search')
    expect(search.message.search_response[0].data.reg_records).toEqual([RECORD])
    expect(taken).toHaveLength(2)
  })

  test('answers 500 until the command takes it', async () => {
    const gate = join(made.home.path, 'gate')
    const url = await listening('--json', '--exec', `cat > /dev/null; echo tried; test -e '${gate}'`)
    const body = signed(onSearch())
    expect(await postCallback(url, body)).toBe(500)
    await writeFile(gate, '')
    expect(await postCallback(url, body)).toBe(200)
    const { stdout, stderr } = await running.stop()
    // Standard output stays JSON.
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).callback),
    ).toEqual(['on-search', 'on-search'])
    expect(stderr.match(/^tried$/gm)).toHaveLength(2)
    expect(stderr).toContain('rollcall: the command of --exec ended with 1; the sender is asked to send it again\n')
  })
})

test('a callback whose line nobody reads any more is not acknowledged, and the command ends', async () => {
  const url = await listening('--json')
  running.process.stdout?.destroy()
  expect(await postCallback(url, signed(onSearch(found)))).toBe(500)
  const { code, stderr } = await running.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^listening on .*; Ctrl-C ends it\n$/) })
})

test('Ctrl-C waits for the command that is under way', async () => {
  const file = join(made.home.path, 'slow')
  const url = await listening('--exec', `cat > /dev/null; touch '${file}.began'; sleep 0.5; touch '${file}'`)
  const posted = postCallback(url, signed(onSearch()))
  await until(running, () =>
    readFile(`${file}.began`).then(
      () => true,
      () => null,
    ),
  )
  const { code } = await running.stop('SIGTERM')
  expect({ code, status: await posted }).toEqual({ code: 0, status: 200 })
  expect(await readFile(file, 'utf8')).toBe('')
})

test.each<[string, readonly string[], string]>([
  ['no demo', [], 'name the registries that may call back with --peer, or start the demo first (npm start)'],
  ['no name of ours', ['--peer', 'a=https://a.example'], '--peer needs --sender-id, our own sender_id at these registries'],
  ['a peer without keys', ['--peer', 'a', '--sender-id', 'b'], '--peer a names no keys; write a=ADDRESS or a=FILE'],
  ['a peer without name', ['--peer', '=x', '--sender-id', 'b'], '--peer must be a sender_id'],
  [
    'a file that is none',
    ['--peer', 'a=/nowhere', '--sender-id', 'b'],
    'the file /nowhere cannot be read: no such file or directory',
  ],
  [
    'an address of others',
    ['--peer', 'a', '--sender-id', 'b', '--verify', 'off', '--host', '192.0.2.1'],
    '192.0.2.1 is not an address of this machine',
  ],
])('%s: exit code 1', async (_name, words, message) => {
  const { code, stdout, stderr } = await rollcall(['listen', ...words], { ROLLCALL_DATA: '/nowhere' })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`rollcall: ${message}`)
})

test('a port that is taken', async () => {
  const url = await listening()
  const port = new URL(url).port
  expect(await rollcall(['listen', '--port', port], made.home.env)).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: port ${port} is taken by another program; choose another\n`,
  })
})
