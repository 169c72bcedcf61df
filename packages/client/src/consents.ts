/** Consents as typed values: each function returns a member for the criteria (spec "SearchRequest", G8). */
import type { Consent } from '@rollcall/protocol'

/** Consent or authority under which is asked, beside the query. */
export interface UnderConsent {
  readonly consent?: Consent
  readonly authorize?: Consent
}

/**
 * A consent that you assert: `{ ...identifier('UIN', '0012'), ...assertedConsent('eligibility') }`.
 * @param purpose a code that the registry has agreed with you
 * @param options.ts when the person consented; now by default
 */
export function assertedConsent(
  purpose: string,
  { ts = new Date().toISOString(), text }: { readonly ts?: string; readonly text?: string } = {},
): { readonly consent: Consent } {
  return { consent: { ts, purpose: { code: purpose, ...(text !== undefined && { text }) } } }
}

/**
 * A consent that a consent authority signed. It names its person, its purpose and its end.
 * @param consent_jws the compact JWS, as the authority gave it
 * @param purpose its code, to be compared with the signed one
 */
export function signedConsent(
  consent_jws: string,
  { purpose }: { readonly purpose?: string } = {},
): { readonly authorize: Consent } {
  return { authorize: { ...(purpose !== undefined && { purpose: { code: purpose } }), consent_jws } }
}
