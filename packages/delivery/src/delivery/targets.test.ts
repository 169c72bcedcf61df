import { CALLBACKS, RequestFault } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callbackNamed, canBeAllowedEntry, findCallbackTarget, recheckTarget } from './targets.ts'

const ON_SEARCH = callbackNamed('on-search')
const to = (allowed: readonly string[], sender_uri: string | null, default_url: string | null = null) =>
  findCallbackTarget({ allowed, default_url, notify_url: null }, sender_uri, ON_SEARCH)

const FORM = new RequestFault(
  'err.sender_uri.invalid',
  'header.sender_uri: must be an absolute http or https address of at most 2048 characters, without credentials and fragment',
)
const UNKNOWN = new RequestFault('err.sender_uri.invalid', 'header.sender_uri: is not an address registered for this sender')

/** Code and message, which `toThrow` alone does not compare. */
function refusal(work: () => unknown): { code: string; message: string } {
  try {
    work()
  } catch (error) {
    if (error instanceof RequestFault) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('nothing was refused')
}
const refused = (allowed: readonly string[], sender_uri: string) => refusal(() => to(allowed, sender_uri))
const said = ({ code, message }: RequestFault) => ({ code, message })

describe('an address within an entry', () => {
  test.each([
    ['https://sp.example', 'https://sp.example/anything?x=1', 'https://sp.example/anything?x=1'],
    ['https://sp.example/callback', 'https://sp.example/callback', 'https://sp.example/callback'],
    ['https://sp.example/callback', 'https://sp.example/callback/on-search', undefined],
    ['https://sp.example/callback/', 'https://sp.example/callback/', undefined],
    ['https://sp.example', 'HTTPS://SP.Example:443/A', 'https://sp.example/A'],
    ['https://sp.example:8443', 'https://sp.example:8443/', undefined],
    ['http://127.0.0.1:*', 'http://127.0.0.1:40123/cb', undefined],
    ['http://127.0.0.1:*', 'http://127.0.0.1/', undefined],
    ['http://[::1]:*/cb', 'http://[::1]:9/cb/x', undefined],
    ['https://sp.example/a', 'https://sp.example/b/../a/c', 'https://sp.example/a/c'],
    ['https://sp.example/a b', 'https://sp.example/a%20b/c', undefined],
  ])('%s takes %s', (entry, sender_uri, called = sender_uri) => {
    expect(canBeAllowedEntry(entry)).toBe(true)
    expect(to(['https://other.example', entry], sender_uri)).toBe(called)
  })
})

describe('an address beside it', () => {
  test.each([
    ['https://sp.example', 'http://sp.example/'],
    ['https://sp.example', 'https://sp.example:8443/'],
    ['https://sp.example', 'https://sp.example.evil.example/'],
    ['https://sp.example', 'https://evil.example/https://sp.example'],
    ['https://sp.example/callback', 'https://sp.example/'],
    ['https://sp.example/callback', 'https://sp.example/callbacks'],
    ['https://sp.example/callback/', 'https://sp.example/callback'],
    ['https://sp.example/callback', 'https://sp.example/Callback/x'],
    ['https://sp.example/callback', 'https://sp.example/callback/../admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/..%2fadmin'],
    ['https://sp.example/callback', 'https://sp.example/callback/%2e%2e/admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/..%5cadmin'],
    ['https://sp.example/callback', 'https://sp.example/callback/a%2Fb'],
    ['https://sp.example/callback', 'https://sp.example/callback/..;/admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/..;x=1/admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/%252e%252e%252fadmin'],
    ['https://sp.example/callback', 'https://sp.example/callback/..%c0%afadmin'],
    ['https://sp.example/callback', 'https://sp.example/callback/x%00.json'],
    ['https://sp.example/callback', 'https://sp.example/callback/..%20/admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/%u002e%u002e/admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/%ef%bc%8e%ef%bc%8e/admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/%e2%80%a5/admin'],
    ['https://sp.example', 'https://sp.example/callback/..%20/admin'],
    ['https://sp.example/callback', 'https://sp.example/callback/x%0d%0aHost:evil'],
    ['https://sp.example/callback', 'https://sp.example//callback/x'],
    ['https://sp.example', 'https://ｓp.example.evil.example/'],
    ['http://127.0.0.1:*', 'https://127.0.0.1:1/'],
    ['http://127.0.0.1:*', 'http://127.0.0.2:1/'],
    ['http://127.0.0.1:*/cb', 'http://127.0.0.1:1/other'],
    ['https://sp.example', 'https://sp.example./'],
  ])('%s does not take %s', (entry, sender_uri) => {
    expect(refused([entry], sender_uri)).toEqual(said(UNKNOWN))
  })
  test('nothing is allowed where nothing is registered, not even what is the default', () => {
    expect(refusal(() => to([], 'https://sp.example/', 'https://sp.example/'))).toEqual(said(UNKNOWN))
  })
})

test.each([
  'sp.example/cb',
  '/cb',
  '//sp.example/cb',
  'ftp://sp.example/',
  'javascript:alert(1)',
  'https://user@sp.example/',
  'https://user:pass@sp.example/',
  'https://sp.example/#part',
  'https://sp.example/#',
  '',
  `https://sp.example/${'a'.repeat(2_048)}`,
  `https://sp.example/${'é'.repeat(1_000)}`,
  'https://sp.example/# ',
  'https://sp.example/#\t',
  'https://sp.example/cb#\n',
  ' https://sp.example/#\u0000',
  ' https://sp.example/cb',
  'https://sp.example/cb\n',
  'https://sp.example/a\nX: y',
  'https://sp.example/a b',
  'https://sp.example/a\u0000',
  'ht\ttps://sp.example/cb',
  'https:sp.example/cb',
  'https:/sp.example/cb',
  'https:///sp.example/cb',
  'https:\\\\sp.example\\cb',
  'https://sp.example\\callback\\..\\admin',
])('%s is no address at all', (sender_uri) => expect(refused(['https://sp.example'], sender_uri)).toEqual(said(FORM)))

test('without a sender_uri the path of the callback is added to the default; without that there is none', () => {
  expect(to([], null, 'https://sp.example/dci/')).toBe('https://sp.example/dci/registry/on-search')
  expect(to([], null, 'https://sp.example/dci')).toBe('https://sp.example/dci/registry/on-search')
  expect(to(['https://sp.example'], null)).toBeNull()
  expect(findCallbackTarget({ allowed: [], default_url: 'https://a.example', notify_url: null }, null, null)).toBeNull()
})

test('a default address is read like any other: what stands around it is not called', () => {
  expect(to([], null, ' HTTPS://SP.example:443/dci\t')).toBe('https://sp.example/dci/registry/on-search')
})

test('an address that was taken is taken again as it is: it reads as itself', () => {
  const piece = fc.constantFrom('a', ' ', '\t', '\n', '#', '?', '/', '\\', '..', '%20', 'é', '\u00a0', '@', ':', "'", '|')
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, text, (before, behind) => {
      let called: string | null
      try {
        called = to(['https://sp.example'], `${before}https://sp.example${behind}`)
      } catch (error) {
        expect(error).toBeInstanceOf(RequestFault)
        return
      }
      expect(to(['https://sp.example'], called)).toBe(called)
    }),
    { numRuns: 2_000 },
  )
})

test('an address of before is still the one while it is the default, or allowed', () => {
  const target = 'https://sp.example/registry/on-search'
  const addresses = (allowed: string[], default_url: string | null) => ({ allowed, default_url, notify_url: null })
  expect(recheckTarget(addresses([], 'https://sp.example'), target, ON_SEARCH)).toBe(target)
  expect(recheckTarget(addresses(['https://sp.example'], null), target, ON_SEARCH)).toBe(target)
  expect(refusal(() => recheckTarget(addresses([], 'https://new.example'), target, ON_SEARCH))).toEqual(said(UNKNOWN))
})

test.each([
  'sp.example',
  'https://*.sp.example.org:*:*',
  'https://sp.example/?x=1',
  'https://user@sp.example',
  'https://sp.example/a%2fb',
  'ftp://sp.example',
])('%s is no entry', (entry) => expect(canBeAllowedEntry(entry)).toBe(false))

test('callbacks are known by their names', () => {
  for (const row of CALLBACKS) expect(callbackNamed(row.name)).toBe(row)
  expect(() => callbackNamed('on-nothing')).toThrow(new RangeError('there is no callback on-nothing'))
})

test('whatever is called lies on the origin of an entry and below its path', () => {
  const segment = fc.constantFrom('a', 'b', '..', '.', '%2e%2e', '%2f', '%5c', '\\', '//', 'cb', '@evil.example', ':1')
  const hosts = fc.constantFrom('sp.example', 'sp.example:443', 'evil.example', 'SP.EXAMPLE')
  const address = fc
    .tuple(hosts, fc.array(segment, { maxLength: 6 }))
    .map(([host, path]) => `https://${host}/cb/${path.join('/')}`)
  fc.assert(
    fc.property(address, (sender_uri) => {
      let called: string | null
      try {
        called = to(['https://sp.example/cb'], sender_uri)
      } catch (error) {
        expect(error).toBeInstanceOf(RequestFault)
        return
      }
      const url = new URL(called ?? '')
      expect(url.origin).toBe('https://sp.example')
      expect(url.pathname === '/cb' || url.pathname.startsWith('/cb/')).toBe(true)
      expect(decodeURIComponent(url.pathname).split(/[/\\]/)).not.toContain('..')
      expect(called).toBe(url.href)
    }),
    { numRuns: 500 },
  )
})

describe('notifications', () => {
  const NOTIFY = callbackNamed('notify')
  const notified = (
    sender_uri: string | null,
    addresses: { readonly default_url?: string; readonly notify_url?: string; readonly allowed?: string[] } = {},
  ) =>
    findCallbackTarget({ allowed: ['https://sp.example'], default_url: null, notify_url: null, ...addresses }, sender_uri, NOTIFY)

  test.each([
    ['https://sp.example/dci/on-subscribe', 'https://sp.example/dci/notify'],
    ['https://sp.example/on-subscribe/v1/on-subscribe', 'https://sp.example/on-subscribe/v1/notify'],
    ['https://sp.example/registry/on-subscribe?of=1', 'https://sp.example/registry/notify?of=1'],
    ['https://sp.example/inbox', 'https://sp.example/inbox'],
    ['https://sp.example/on-subscribed', 'https://sp.example/on-subscribed'],
  ])('a subscription from %s is notified at %s', (sender_uri, target) => {
    expect(notified(sender_uri)).toBe(target)
    expect(recheckTarget({ allowed: ['https://sp.example'], default_url: null, notify_url: null }, target, NOTIFY)).toBe(target)
  })

  test('an address for notifications comes before all others', () => {
    const notify_url = 'https://events.example/notify'
    const default_url = 'https://sp.example'
    expect(notified('https://sp.example/on-subscribe', { notify_url, default_url })).toBe(notify_url)
    expect(notified(null, { notify_url, default_url })).toBe(notify_url)
  })

  test('without a sender_uri the default address is taken, and there may be none', () => {
    expect(notified(null, { default_url: 'https://sp.example/dci' })).toBe('https://sp.example/dci/registry/notify')
    expect(notified(null)).toBeNull()
  })

  test('it must be allowed like any callback', () => {
    expect(refusal(() => notified('https://sp.example/on-subscribe', { allowed: ['https://sp.example/on-subscribe'] }))).toEqual(
      said(UNKNOWN),
    )
    expect(refusal(() => notified('ftp://sp.example/on-subscribe'))).toEqual(said(FORM))
  })
})
