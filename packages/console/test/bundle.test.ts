/** The files of the console that a browser loads stay small. */
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { CONSOLE_FILES, PARTNER_FILES } from '../src/index.ts'

/** Bytes, compressed: of all pages, of which each is loaded when it is first opened. */
const MOST = 300_000

/** The most bytes of a document of the help, which is loaded when somebody reads it. */
const MOST_OF_DOCUMENT = 15_000

const assets = new URL('assets/', CONSOLE_FILES)
const bytesOf = (name: string): number => gzipSync(readFileSync(new URL(name, assets))).length
const names = ['../index.html', ...readdirSync(assets)]
const documents = names.filter((name) => name.startsWith('manual-'))

it(`all built files but the documents have less than ${MOST} bytes, compressed`, () => {
  const bytes = names.filter((name) => !documents.includes(name)).map(bytesOf)
  expect(bytes.length).toBeGreaterThan(10)
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(MOST)
})

it(`a document of the help has less than ${MOST_OF_DOCUMENT} bytes, compressed`, () => {
  expect(documents.length).toBeGreaterThan(5)
  for (const name of documents) expect(bytesOf(name), name).toBeLessThan(MOST_OF_DOCUMENT)
})

/** The most bytes of the partner page. */
const MOST_OF_PARTNER = 170_000

it(`the partner page has less than ${MOST_OF_PARTNER} bytes, compressed`, () => {
  const files = new URL('assets/', PARTNER_FILES)
  const bytes = ['../partner.html', ...readdirSync(files)].map((name) => gzipSync(readFileSync(new URL(name, files))).length)
  expect(bytes.length).toBeGreaterThan(4)
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(MOST_OF_PARTNER)
})

it.each([new URL('index.html', CONSOLE_FILES), new URL('partner.html', PARTNER_FILES)])(
  'the page has no inline script and no inline style: %s',
  (file) => {
    const page = readFileSync(file, 'utf8')
    expect([...page.matchAll(/<script\b[^>]*>([^<]*)/g)].map(([, text]) => text)).toEqual([''])
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/i)
  },
)
