/** What a browser loads of the console stays small. */
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { CONSOLE_FILES } from '../src/index.ts'

/** Bytes, compressed: of all pages, of which each is loaded when it is first opened. */
const MOST = 300_000

it(`all built files have less than ${MOST} bytes, compressed`, () => {
  const assets = new URL('assets/', CONSOLE_FILES)
  const names = ['../index.html', ...readdirSync(assets)]
  const bytes = names.map((name) => gzipSync(readFileSync(new URL(name, assets))).length)
  expect(names.length).toBeGreaterThan(10)
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(MOST)
})

it('the page has no inline script and no inline style', () => {
  const page = readFileSync(new URL('index.html', CONSOLE_FILES), 'utf8')
  expect([...page.matchAll(/<script\b[^>]*>([^<]*)/g)].map(([, text]) => text)).toEqual([''])
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/i)
})
