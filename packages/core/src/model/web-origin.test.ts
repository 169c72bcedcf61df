import { expect, test } from 'vitest'
import { isOriginInOperatorList, webOriginProblem } from './web-origin.ts'

const FORM = 'must be an origin in lower case such as https://app.example, without a path; only the port may be *'
const WRITTEN = 'must be written as browsers do: without the default port, and with a port of at most 65535'

test.each([
  ['https://app.example', null],
  ['https://app.example:8443', null],
  ['http://localhost:3000', null],
  ['http://127.0.0.1:*', null],
  ['http://[::1]:*', null],
  ['*', FORM],
  ['null', FORM],
  ['https://app.example/', FORM],
  ['https://*.example', FORM],
  ['https://App.example', FORM],
  ['https://user@app.example', FORM],
  ['https://app.example:443', WRITTEN],
  ['https://app.example:99999', WRITTEN],
  ['http://app.example', 'must begin with https: plain http is for this machine alone'],
  ['https://app.example:*', 'may have any port only on this machine, such as http://localhost:*'],
])('%s', (origin, problem) => expect(webOriginProblem(origin)).toBe(problem))

test('a listed origin means itself, and with * any port of its host', () => {
  const listed = ['https://app.example', 'http://localhost:*']
  const of = (origin: string): boolean => isOriginInOperatorList(listed, origin)
  expect(['https://app.example', 'http://localhost', 'http://localhost:5173'].map(of)).toEqual([true, true, true])
  expect(
    [
      ...['https://app.example:8443', 'http://app.example', 'https://app.example.evil.example', 'null', ''],
      ...['http://localhost.evil.example', 'http://localhost:1@evil.example', 'https://localhost:5173'],
    ].map(of),
  ).toEqual([false, false, false, false, false, false, false, false])
})
