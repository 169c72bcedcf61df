/** Shows a code. A code that begins with `err.` or `rjct.` links to its meaning and advice. */
import { codeAddress } from './help-address.ts'

export function Code({ value }: { readonly value: string }) {
  const address = codeAddress(value)
  if (address === null) return <code>{value}</code>
  return (
    <a href={address}>
      <code>{value}</code>
    </a>
  )
}
