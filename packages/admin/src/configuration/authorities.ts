/** The steps for the consent authorities of a configuration file. */
import { type ConsentAuthority, checkAuthorityName } from '@rollcall/consents/store/authorities'
import { addConsentAuthority, checkAuthority, readAuthorityKeys, removeConsentAuthority } from '../consents/authorities.ts'
import type { Configuration } from './file.ts'
import { type PurposeOrAuthorityPlan, planPurposesOrAuthorities } from './names.ts'
import { authorityEntry, type StoredConfiguration } from './read.ts'

/** Plans the steps for the consent authorities of a file. @throws AdminRefusal a key or an address cannot be used */
export const planAuthorities = (
  { consent_authorities: wanted }: Configuration,
  { authorities: stored }: Pick<StoredConfiguration, 'authorities'>,
): Promise<PurposeOrAuthorityPlan> =>
  planPurposesOrAuthorities(
    {
      member: 'consent_authorities',
      words: 'consent authority',
      nameOf: ({ name }: Omit<ConsentAuthority, 'id'>) => name,
      shown: authorityEntry,
      async rowOf(name, entry, found) {
        checkAuthorityName(name)
        const keys = entry.keys === undefined ? (found?.keys ?? []) : await readAuthorityKeys(name, entry.keys)
        const outgoing = entry.hosts ?? found?.outgoing ?? []
        return { name, jwks_uri: entry.jwks_uri ?? null, outgoing, keys }
      },
      check: checkAuthority,
      put: (deps, row) => addConsentAuthority(deps, { name: row.name, ...authorityEntry(row) }),
      remove: (deps, name) => removeConsentAuthority(deps, { name }),
    },
    wanted,
    stored,
  )
