/** Shows and changes how a participant signs and encrypts. */
import { useState } from 'react'
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { changedFormMembers, type FormValues } from '../../parts/form-values.ts'
import { FactPanel, Section } from '../../parts/page.tsx'
import { useMay } from '../../session/session.ts'
import { COMMON } from '../../texts/common.ts'
import { PARTICIPANT } from '../../texts/participants.ts'

type Policy = Participant['policy']
type SignatureProfile = Policy['signature_profile']

const { policy: TEXTS } = PARTICIPANT
const { names: NAMES } = TEXTS
const SIGNATURE_POLICIES: readonly Policy['signature_policy'][] = ['required', 'if-present', 'off']
const ENCRYPTION_POLICIES: readonly Policy['encryption_policy'][] = ['required', 'allowed', 'refused']
const SIGNATURE_LAYOUTS: readonly SignatureProfile['layout'][] = ['parameters', 'jws', 'jws-detached', 'raw-rsa']
const CANONICAL_FORMS: readonly SignatureProfile['canonical_form'][] = [
  'rfc8785',
  'sorted-escaped',
  'sorted-unescaped',
  'as-received',
]
const DIGEST_PREFIXES: readonly SignatureProfile['digest_prefix'][] = ['SHA-256=', 'BLAKE-512=']
const SIGNATURE_ALGORITHMS: readonly SignatureProfile['algorithms'][number][] = ['EdDSA', 'ES256', 'RS256']

export function Policies({ participant: { sender_id, policy } }: { readonly participant: Participant }) {
  const may = useMay()
  return (
    <Section
      title={TEXTS.title}
      lead={TEXTS.lead}
      actions={may('own') && <ChangePolicyButton sender_id={sender_id} policy={policy} />}
    >
      <FactPanel rows={factsOf(policy)} />
    </Section>
  )
}

function factsOf({ signature_policy, allow_unsigned, encryption_policy, jwks_uri, signature_profile }: Policy) {
  const { layout, canonical_form, digest_prefix, algorithms } = signature_profile
  return [
    [NAMES.signature_policy, signature_policy],
    [NAMES.allow_unsigned, allow_unsigned ? COMMON.yes : COMMON.no],
    [NAMES.encryption_policy, encryption_policy],
    [NAMES.jwks_uri, jwks_uri === null ? TEXTS.noUri : <code key="uri">{jwks_uri}</code>],
    [NAMES.layout, layout],
    [NAMES.canonical_form, canonical_form],
    [NAMES.digest_prefix, digest_prefix || TEXTS.noPrefix],
    [NAMES.algorithms, algorithms.join(', ')],
  ] as const
}

interface ChangePolicyButtonProps {
  readonly sender_id: string
  readonly policy: Policy
}

function ChangePolicyButton({ sender_id, policy }: ChangePolicyButtonProps) {
  const [shown, setShown] = useState(policy)
  const { signature_profile: profile, signature_policy, encryption_policy } = shown
  const choice = (name: keyof typeof NAMES, options: readonly string[], value: string) =>
    ({ name, label: NAMES[name], as: 'choice', options, value, required: true }) as const
  return (
    <FormDialog
      label={TEXTS.change}
      title={TEXTS.title}
      act={TEXTS.save}
      onOpen={() => setShown(policy)}
      fields={[
        { ...choice('signature_policy', SIGNATURE_POLICIES, signature_policy), note: TEXTS.signatureNote },
        {
          name: 'allow_unsigned',
          label: NAMES.allow_unsigned,
          note: TEXTS.unsignedNote,
          as: 'flag',
          value: shown.allow_unsigned,
        },
        choice('encryption_policy', ENCRYPTION_POLICIES, encryption_policy),
        { name: 'jwks_uri', label: NAMES.jwks_uri, note: TEXTS.uriNote, value: shown.jwks_uri },
        choice('layout', SIGNATURE_LAYOUTS, profile.layout),
        choice('canonical_form', CANONICAL_FORMS, profile.canonical_form),
        { ...choice('digest_prefix', DIGEST_PREFIXES, profile.digest_prefix), required: false, empty: TEXTS.noPrefix },
        { name: 'algorithms', label: NAMES.algorithms, as: 'group', options: SIGNATURE_ALGORITHMS, ticked: profile.algorithms },
      ]}
      call={(given) =>
        answerTo(
          api.POST('/admin/v1/participants/{sender_id}/policy', {
            params: { path: { sender_id } },
            body: policyFromForm(given, shown),
          }),
        )
      }
      changes={['participants']}
      done={() => TEXTS.done}
    />
  )
}

function policyFromForm(given: FormValues, shown: Policy): Partial<Policy> {
  const { signature_profile: profile } = shown
  const signature_policy = given.choice('signature_policy', SIGNATURE_POLICIES) ?? shown.signature_policy
  const allow_unsigned = given.flag('allow_unsigned')
  const changed = changedFormMembers(
    {
      signature_policy,
      allow_unsigned,
      encryption_policy: given.choice('encryption_policy', ENCRYPTION_POLICIES) ?? shown.encryption_policy,
      jwks_uri: given.textOrNull('jwks_uri'),
      signature_profile: {
        // `changedFormMembers` compares JSON texts, so the new profile needs its members in the order of the shown profile.
        ...profile,
        layout: given.choice('layout', SIGNATURE_LAYOUTS) ?? profile.layout,
        canonical_form: given.choice('canonical_form', CANONICAL_FORMS) ?? profile.canonical_form,
        digest_prefix: given.choice('digest_prefix', DIGEST_PREFIXES) ?? '',
        algorithms: SIGNATURE_ALGORITHMS.filter((name) => given.ticked('algorithms').includes(name)),
      },
    },
    shown,
  )
  // Both are sent: the server sets allow_unsigned to false when only signature_policy is sent.
  const isSigningChanged = changed.signature_policy !== undefined || changed.allow_unsigned !== undefined
  return { ...changed, ...(isSigningChanged && { signature_policy, allow_unsigned }) }
}
