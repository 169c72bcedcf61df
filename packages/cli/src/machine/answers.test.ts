import { expect, test } from 'vitest'
import { askAnswers, readAnswers } from './answers.ts'

test('a file says what has no default, and the answers before count where it says nothing', () => {
  expect(readAnswers({ name: 'registry.example.org', kind: 'ibr' })).toMatchObject({
    namespace: 'ibr',
    sender_id: 'ibr.registry.example.org',
    certificate: 'files',
    witness: 'later',
  })
  expect(readAnswers({}, { name: 'registry.example.org', operator: 'amina' })).toMatchObject({ operator: 'amina' })
})

test('another way to a certificate has files of its own', () => {
  const csr = readAnswers({ name: 'a.example', certificate: 'csr', authority_file: '/etc/ssl/ministry.pem' })
  expect(readAnswers({}, csr)).toEqual(csr)
  expect(readAnswers({ certificate: 'certbot', contact: 'it@a.example' }, csr)).toMatchObject({
    certificate_file: '/etc/letsencrypt/live/a.example/fullchain.pem',
    key_file: '/etc/letsencrypt/live/a.example/privkey.pem',
    authority_file: '',
  })
})

test.each([
  [[], 'the file of --answers must be a map of names and values'],
  [{}, 'the file of --answers lacks name'],
  [{ naem: 'x' }, 'the file of --answers has the unknown member naem; the nearest is name'],
  [{ name: '203.0.113.7' }, 'name must be a name in small letters, such as registry.example.org'],
  [{ name: 'a.example; rm' }, 'name must be a name in small letters, such as registry.example.org'],
  [{ name: 'a.example', kind: 'civl' }, 'kind must be one of civil, ibr, ess, social, disability, farmer; the nearest is civil'],
  [{ name: 'a.example', certificate_file: 'cert.pem' }, 'certificate_file must be the whole path of a file'],
  [{ name: 'a.example', witness: 'http://a' }, 'witness must be such as syslog+tcp://log.example.org:601, or later'],
  [{ name: 'a.example', copies: '-oProxyCommand=x@a:b' }, 'copies must be such as copies@vault.example.org:rollcall, or later'],
  [{ name: 'a.example', certificate: 'certbot' }, 'the file of --answers lacks contact'],
])('%o is refused', (file, message) => {
  expect(() => readAnswers(file)).toThrow(message)
})

test('a wrong answer is asked again, and a question that decides nothing is not asked', async () => {
  const given = ['registry', 'registry.example.org', '', '', '', 'csr', '', '', '', 'amina']
  const said: string[] = []
  const answers = await askAnswers(
    async (question) => {
      said.push(question)
      return given.shift() ?? ''
    },
    (line) => said.push(line),
  )
  expect(answers).toMatchObject({ name: 'registry.example.org', key_file: '/etc/rollcall/tls.key', operator: 'amina' })
  expect(said).toContain('It must be a name in small letters, such as registry.example.org.')
  expect(said.filter((line) => line.startsWith('File of its key'))).toEqual([])
})
