/** Shows and changes where and how a participant takes callbacks and notifications. */
import { useState } from 'react'
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { CallbackTest } from '../../parts/callback-test.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { changedFormMembers, type FormValues } from '../../parts/form-values.ts'
import { FactPanel, Section } from '../../parts/page.tsx'
import { numberText } from '../../parts/times.ts'
import { useMay } from '../../session/session.ts'
import { COMMON, LOCALE } from '../../texts/common.ts'
import { PARTICIPANT } from '../../texts/participants.ts'
import { Credentials } from './credentials.tsx'

type ParticipantCallbackSettings = Participant['callback']

const { callback: TEXTS } = PARTICIPANT
const { names: NAMES } = TEXTS
const NUMBER_SETTINGS = ['concurrency', 'rate', 'timeout_ms', 'notify_items', 'notify_bytes'] as const

export function Callbacks({ participant: { sender_id, callback } }: { readonly participant: Participant }) {
  const may = useMay()
  return (
    <Section
      title={TEXTS.title}
      lead={TEXTS.lead}
      actions={
        <>
          {may('operate') && <CallbackTest sender_id={sender_id} />}
          {may('own') && <Credentials sender_id={sender_id} auth={callback.auth} />}
          {may('own') && <ChangeCallbackButton sender_id={sender_id} callback={callback} />}
        </>
      }
    >
      <FactPanel rows={factsOf(callback)} />
    </Section>
  )
}

function factsOf(callback: ParticipantCallbackSettings) {
  const { default_url, notify_url, allowed, auth, schedule, notify_unlisted } = callback
  return [
    [NAMES.default_url, default_url === null ? TEXTS.noDefault : <code key="default">{default_url}</code>],
    [NAMES.notify_url, notify_url === null ? TEXTS.noNotify : <code key="notify">{notify_url}</code>],
    [NAMES.allowed, allowed.length === 0 ? TEXTS.noAllowed : <code key="allowed">{allowed.join(' ')}</code>],
    [NAMES.auth, auth],
    ...NUMBER_SETTINGS.map((name) => [NAMES[name], numberText(callback[name], LOCALE)] as const),
    [NAMES.schedule, schedule === null ? TEXTS.noSchedule : schedule.join(', ')],
    [NAMES.notify_unlisted, notify_unlisted ? COMMON.yes : COMMON.no],
  ] as const
}

interface ChangeCallbackButtonProps {
  readonly sender_id: string
  readonly callback: ParticipantCallbackSettings
}

function ChangeCallbackButton({ sender_id, callback }: ChangeCallbackButtonProps) {
  const [shown, setShown] = useState(callback)
  return (
    <FormDialog
      label={TEXTS.change}
      title={TEXTS.title}
      act={TEXTS.save}
      onOpen={() => setShown(callback)}
      fields={[
        { name: 'default_url', label: NAMES.default_url, note: TEXTS.defaultNote, value: shown.default_url },
        { name: 'notify_url', label: NAMES.notify_url, note: TEXTS.notifyNote, value: shown.notify_url },
        { name: 'allowed', label: NAMES.allowed, note: TEXTS.linesNote, as: 'area', value: shown.allowed.join('\n') },
        ...NUMBER_SETTINGS.map(
          (name) => ({ name, label: NAMES[name], as: 'number', value: shown[name], required: true }) as const,
        ),
        { name: 'schedule', label: NAMES.schedule, note: TEXTS.scheduleNote, as: 'area', value: shown.schedule?.join('\n') },
        { name: 'notify_unlisted', label: NAMES.notify_unlisted, as: 'flag', value: shown.notify_unlisted },
      ]}
      call={(given) =>
        answerTo(
          api.POST('/admin/v1/participants/{sender_id}/callback', {
            params: { path: { sender_id } },
            body: changedCallbackSettings(given, shown),
          }),
        )
      }
      changes={['participants', 'deliveries']}
      done={() => TEXTS.done}
    />
  )
}

function changedCallbackSettings(given: FormValues, shown: ParticipantCallbackSettings) {
  const allowed = given.lines('allowed')
  const schedule = given.lines('schedule')
  return {
    ...changedFormMembers(
      {
        default_url: given.textOrNull('default_url'),
        notify_url: given.textOrNull('notify_url'),
        schedule: schedule.length === 0 ? null : schedule.map(Number),
        notify_unlisted: given.flag('notify_unlisted'),
        ...Object.fromEntries(NUMBER_SETTINGS.map((name) => [name, given.number(name)])),
      },
      shown,
    ),
    allow: allowed.filter((entry) => !shown.allowed.includes(entry)),
    disallow: shown.allowed.filter((entry) => !allowed.includes(entry)),
  }
}
