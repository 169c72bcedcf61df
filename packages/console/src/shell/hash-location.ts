/** Paths and filters of pages are after the `#`, which browsers do not send with the request for a page. */
import { useSyncExternalStore } from 'react'
import type { BaseLocationHook, BaseSearchHook } from 'wouter'

const hashAddress = (): string => `/${location.hash.replace(/^#?\/?/, '')}`

function subscribeToHashChange(changed: () => void): () => void {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}

/** The part of an address before the `?`. */
export const pathOfAddress = (whole: string): string => whole.split('?', 1)[0] ?? '/'

/** The part of an address after the `?`. */
export const searchOfAddress = (whole: string): string => whole.slice(pathOfAddress(whole).length + 1)

/** Escapes `%` in a path or a query, because wouter decodes its input: wouter then returns the text as written. */
export const escapePercent = (part: string): string => part.replaceAll('%', '%25')

/** Goes to a page. @param to its path and filter, without the `#` */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const hash = `#${to}`
  if (hash === location.hash) return
  if (!replace) {
    location.hash = hash
    return
  }
  history.replaceState(null, '', hash)
  dispatchEvent(new Event('hashchange'))
}

export const useHashPath: BaseLocationHook = () => [
  useSyncExternalStore(subscribeToHashChange, () => escapePercent(pathOfAddress(hashAddress()))),
  navigate,
]

export const useHashSearch: BaseSearchHook = () =>
  useSyncExternalStore(subscribeToHashChange, () => escapePercent(searchOfAddress(hashAddress())))

export const hashHref = (path: string): string => `#${path}`
