/** `rollcall participant policy`: sets how a participant signs and encrypts, and where its keys are. */
import { changeParticipantPolicy } from '@rollcall/admin/participants/policy'
import { adminCommand } from '../admin-command.ts'
import { namesAndValuesText } from '../output.ts'
import { profileText, readProfile } from '../profile.ts'

export const { defineCommand } = adminCommand(async () => changeParticipantPolicy, {
  args: 'sender_id',
  options: {
    signature_policy: '--signature <policy>',
    allow_unsigned: { help: 'permit a --signature other than required' },
    encryption_policy: '--encryption <policy>',
    signature_profile: {
      flags: '--profile <words>',
      help: 'how it signs: layout, canonical form, digest prefix and algorithms, with commas; default for the profile of the specification',
      read: readProfile,
    },
    jwks_uri: {
      flags: '--jwks-uri <address>',
      help: 'address of the key set that it publishes; none to use only keys that are registered here',
    },
  },
  notes: 'Profiles are explained in docs/signature.md. rollcall keys probe finds the profile of a message.',
  examples: ['spmis.example.org --profile jws,as-received,RS256'],
  text: (shown) => namesAndValuesText({ ...shown, signature_profile: profileText(shown.signature_profile) }),
})
