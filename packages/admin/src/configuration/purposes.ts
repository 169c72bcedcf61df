/** The steps for the purposes of a configuration file. */
import { type ConsentPurpose, checkPurposeForm, putPurpose, removePurpose } from '@rollcall/participants/store/purposes'
import type { Configuration } from './file.ts'
import { type PurposeOrAuthorityPlan, planPurposesOrAuthorities } from './names.ts'
import type { StoredConfiguration } from './read.ts'

/** Plans the steps for the purposes of a file. @throws AdminRefusal a code or a text has the wrong form */
export const planPurposes = (
  { purposes: wanted }: Configuration,
  { purposes: stored }: Pick<StoredConfiguration, 'purposes'>,
): Promise<PurposeOrAuthorityPlan> =>
  planPurposesOrAuthorities(
    {
      member: 'purposes',
      words: 'purpose',
      nameOf: ({ code }: ConsentPurpose) => code,
      shown: ({ text }) => ({ text }),
      async rowOf(code, entry) {
        const purpose = { code, text: entry.text ?? null }
        checkPurposeForm(purpose)
        return purpose
      },
      put: ({ db }, purpose) => putPurpose(db, purpose),
      remove: ({ db }, code) => removePurpose(db, code),
    },
    wanted,
    stored,
  )
