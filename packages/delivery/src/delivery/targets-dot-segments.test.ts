import fc from 'fast-check'
import { expect, test } from 'vitest'
import { couldLeavePrefix } from './targets.ts'

const pathOf = (path: string): string => new URL(`https://sp.example${path}`).pathname

test.each([
  '/cb/..%20/x',
  '/cb/%20../x',
  '/cb/.%20./x',
  '/cb/..+/x',
  '/cb/..%a0/x',
  '/cb/..%c2%a0/x',
  '/cb/%u002e%u002e/x',
  '/cb/%U002E%U002E/x',
  '/cb/%ef%bc%8e%ef%bc%8e/x',
  '/cb/%ef%bc%8e./x',
  '/cb/．．/x',
  '/cb/%e2%80%a5/x',
  '/cb/‥/x',
  '/cb/․․/x',
  '/cb/.../x',
  '/cb/…/x',
  '/cb/..%e3%80%82/x',
  '/cb/.%e2%80%8b./x',
  '/cb/.%c2%ad./x',
  '/cb/.%ef%b8%8f./x',
  '/cb/..%cc%80/x',
  '/cb/..;/x',
  '/cb/..%3bx/x',
  '/cb/..%ef%bc%9bx/x',
  '/cb/..%3fx',
  '/cb/..%ef%bc%9fx',
  '/cb/..%23x',
  '/cb/..%2fx',
  '/cb/..%5cx',
  '/cb/..%ef%bc%8fx',
  '/cb/..%ef%bc%bcx',
  '/cb/..%e2%88%95x',
  '/cb/..%e2%81%84x',
  '/cb/..%c0%afx',
  '/cb/%c0%ae%c0%ae/x',
  '/cb/%252e%252e/x',
  '/cb/%25252e%25252e/x',
  '/cb/%ef%bc%852e%ef%bc%852e/x',
  '/cb/..%00/x',
  '/cb/..%09/x',
  '/cb/..%0a/x',
  '/cb/%0d%0a../x',
  '/cb/..%7f/x',
  '/cb/..%c2%85/x',
  '/cb/%e9/x',
  '/cb/%/x',
])('%s could lead out of its prefix', (path) => {
  expect(couldLeavePrefix(pathOf(path))).toBe(true)
})

test.each([
  '/',
  '/cb',
  '/cb/',
  '/cb/on-search',
  '/cb/v1.0.0/registry/on-search',
  '/cb/.well-known/x',
  '/cb/a..b/x',
  '/cb/..a/x',
  '/cb/a../x',
  '/cb/a%20b/x',
  '/cb/a;v=1/x',
  '/cb/@me:8/~x/$a&b=c,(d)!',
  '/cb/región/x',
  '/cb/%D8%B1%D8%AC%D9%88%D8%B9/x',
  '/cb/登録/x',
  '/cb//x',
])('%s stays where it is', (path) => {
  expect(couldLeavePrefix(pathOf(path))).toBe(false)
})

/** Changes that servers, proxies and frameworks make to a path before they resolve its dot segments. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.normalize('NFKC'),
  (path) => path.normalize('NFKD'),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll('+', ' '),
  (path) => path.replace(/%u([0-9a-f]{4})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
  (path) => percent(path),
  (path) => each(path, (segment) => segment.replace(/[;?#].*$/s, '')),
  (path) => each(path, (segment) => segment.trim()),
  (path) => each(path, (segment) => segment.replace(/[\p{Cc}\p{Cf}\p{M}]/gu, '')),
  (path) => each(path, (segment) => segment.replace(/[. ]+$/, (end) => (/^\.{1,2}$/.test(end) ? end : ''))),
]
const each = (path: string, change: (segment: string) => string): string => path.split('/').map(change).join('/')
/** Percent-decoded as UTF-8 where it is, else byte by byte. */
function percent(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = Buffer.from(run.replaceAll('%', ''), 'hex')
    const text = bytes.toString('utf8')
    return text.includes('\ufffd') ? bytes.toString('latin1') : text
  })
}

test('no path that stays has a dot segment after any of the steps, in any order', () => {
  const piece = fc.constantFrom(
    ...['.', '..', '/', ' ', '%20', '+', ';', '%3b', '%3f', '%23', '%2e', '%2E', '%252e', '%u002e', '%uff0e'],
    ...['%ef%bc%8e', '．', '‥', '․', '。', '／', '＼', '％', '；', '%5c', '%2f', '%00', '%09', '%c0%ae', '%ae', '%a0'],
    ...['\u200b', '\ufe0f', '\u0338', '\u00a0', 'a', '1', 'é', '%'],
  )
  const path = fc.array(piece, { maxLength: 8 }).map((pieces) => pathOf(`/cb/${pieces.join('')}/x`))
  const steps = fc.array(fc.constantFrom(...STEPS), { maxLength: 6 })
  fc.assert(
    fc.property(path, steps, (written, taken) => {
      if (couldLeavePrefix(written)) return
      const resolved = taken.reduce((at, step) => step(at), written)
      expect(resolved.split('/').filter((segment) => /^\.{1,2}$/.test(segment))).toEqual([])
    }),
    { numRuns: 5_000 },
  )
})
