/** Buttons for acts on deliveries. Each act first shows how many deliveries of which participants it concerns. */
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answerTo, api } from '../../api/client.ts'
import type { paths } from '../../api/schema.d.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/states.tsx'
import { numberText } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { DELIVERY_ACTS } from '../../texts/deliveries.ts'
import styles from './deliveries.module.css'

/** A choice of deliveries, as the admin API takes it. */
export type DeliverySelection = Omit<
  paths['/admin/v1/deliveries/retry']['post']['requestBody']['content']['application/json'],
  'dry_run'
>

const ACT_CALLS = {
  retry: (body: DeliverySelection & { dry_run?: boolean }) => answerTo(api.POST('/admin/v1/deliveries/retry', { body })),
  replay: (body: DeliverySelection & { dry_run?: boolean }) => answerTo(api.POST('/admin/v1/deliveries/replay', { body })),
  cancel: (body: DeliverySelection & { dry_run?: boolean }) => answerTo(api.POST('/admin/v1/deliveries/cancel', { body })),
} as const
type ActName = keyof typeof ACT_CALLS

/** The states of deliveries in which each act changes something (docs/deliveries.md). */
const CHANGEABLE_STATES: Readonly<Record<ActName, readonly string[]>> = {
  retry: ['pending', 'dead'],
  replay: ['delivered', 'refused', 'dead', 'dropped', 'held'],
  cancel: ['pending', 'held', 'dead'],
}
const ACT_NAMES = Object.keys(ACT_CALLS) as ActName[]

interface ActsProps {
  readonly choice: DeliverySelection
  /** Choices for single acts, in place of `choice`; null: the act is not offered. */
  readonly choices?: Readonly<Partial<Record<ActName, DeliverySelection | null>>>
  /** The state of the deliveries, which excludes some acts; undefined: it excludes none. */
  readonly state?: string | undefined
  /** True for small buttons, for example those above a list. */
  readonly small?: boolean
}

export function DeliveryActs({ choice, choices = {}, state, small = false }: ActsProps) {
  const may = useMay()
  const [act, setAct] = useState<ActName | null>(null)
  if (!may('operate')) return null
  const offered = ACT_NAMES.filter(
    (name) => choices[name] !== null && (state === undefined || CHANGEABLE_STATES[name].includes(state)),
  )
  return (
    <>
      {offered.map((name) => (
        <Button key={name} variant="default" size={small ? 'compact-md' : 'sm'} onClick={() => setAct(name)}>
          {DELIVERY_ACTS[name].button}
        </Button>
      ))}
      {act !== null && <ActDialog name={act} choice={choices[act] ?? choice} onClose={() => setAct(null)} />}
    </>
  )
}

interface DialogProps {
  readonly name: ActName
  readonly choice: DeliverySelection
  readonly onClose: () => void
}

function ActDialog({ name, choice, onClose }: DialogProps) {
  const texts = DELIVERY_ACTS[name]
  const preview = useQuery({
    queryKey: ['deliveries', 'preview', name, choice],
    queryFn: () => ACT_CALLS[name]({ ...choice, dry_run: true }),
    staleTime: 0,
  })
  const act = useAct({
    call: () => ACT_CALLS[name](choice),
    changes: ['deliveries', 'destinations', 'messages', 'overview'],
    done: ({ deliveries }) => texts.done(numberText(deliveries, LOCALE)),
    onOver: onClose,
  })
  const found = preview.data?.deliveries ?? 0
  return (
    <ConfirmDialog
      opened
      title={texts.title}
      act={texts.act(numberText(found, LOCALE))}
      danger={name === 'cancel'}
      busy={act.isPending}
      disabled={found === 0}
      onConfirm={() => act.mutate(undefined)}
      onClose={onClose}
    >
      <p>{texts.lead}</p>
      <Loaded query={preview} lines={2}>
        {({ deliveries, participants, in_closed_mailboxes }) => (
          <>
            <p>
              <strong>{DELIVERY_ACTS.found(numberText(deliveries, LOCALE))}</strong>
            </p>
            {participants.length > 0 && (
              <ul className={styles.preview}>
                {participants.map(({ participant, deliveries: theirs }) => (
                  <li key={participant}>
                    {participant} <span className={styles.number}>{numberText(theirs, LOCALE)}</span>
                  </li>
                ))}
              </ul>
            )}
            {in_closed_mailboxes > 0 && <p>{DELIVERY_ACTS.inClosed(numberText(in_closed_mailboxes, LOCALE))}</p>}
          </>
        )}
      </Loaded>
    </ConfirmDialog>
  )
}
