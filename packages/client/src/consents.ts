/** Makes consents: each function returns an object to spread into the criteria of a request (spec "SearchRequest"). */
import type { Consent } from '@rollcall/protocol'

/** The consent or authorization for a question, as members of its criteria. */
export interface UnderConsent {
  readonly consent?: Consent
  readonly authorize?: Consent
}

/**
 * A consent that you assert yourself: `{ ...identifier('UIN', '0012'), ...assertedConsent('eligibility') }`.
 * @param purpose the code of the purpose, from the codes on which you and the registry have agreed
 * @param options.ts the date and time at which the consent was given; now by default
 */
export function assertedConsent(
  purpose: string,
  { ts = new Date().toISOString(), text }: { readonly ts?: string; readonly text?: string } = {},
): { readonly consent: Consent } {
  return { consent: { ts, purpose: { code: purpose, ...(text !== undefined && { text }) } } }
}

/**
 * A consent that a consent authority has signed. It states its person, its purpose and its end.
 * @param consent_jws the compact JWS from the authority
 * @param purpose the code of the purpose, which the registry compares with the signed one
 */
export function signedConsent(
  consent_jws: string,
  { purpose }: { readonly purpose?: string } = {},
): { readonly authorize: Consent } {
  return { authorize: { ...(purpose !== undefined && { purpose: { code: purpose } }), consent_jws } }
}
