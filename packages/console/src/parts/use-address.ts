/** The parts of a page's address, such as ids that participants made, which may have any character. */
import { useParams } from 'wouter'

/** The parts of this page's address; absent ones are empty. */
export function useAddressParts<Name extends string>(...names: readonly Name[]): Readonly<Record<Name, string>> {
  const given: Readonly<Record<string, string | undefined>> = useParams()
  const entries = names.map((name) => [name, decodeAddressPart(given[name] ?? '')] as const)
  return Object.fromEntries(entries) as Record<Name, string>
}

/** Decodes a part of an address. A part whose percent-encoding is invalid is returned as it is. */
function decodeAddressPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
