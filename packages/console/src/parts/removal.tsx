/** A dialog that removes something with all its data: the data are counted, and the name must be typed. */
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { LOCALE } from '../texts/common.ts'
import { REMOVAL } from '../texts/removal.ts'
import { ConfirmDialog } from './confirm.tsx'
import { FactList } from './page.tsx'
import { Loaded } from './states.tsx'
import { numberText } from './times.ts'
import { useAct } from './use-act.tsx'

interface RemovalCounts {
  readonly pending: Readonly<Record<string, number>>
  readonly stored: Readonly<Record<string, number>>
  readonly records?: Readonly<Record<string, number>>
}

interface RemovalProps {
  /** The name of the participant or registry to remove. The reader must type it. */
  readonly name: string
  /** The list page of what is removed, such as `participants`: the first member of its query keys, and its address. */
  readonly list: string
  readonly call: (how: { readonly dry_run?: boolean; readonly end?: boolean }) => Promise<RemovalCounts>
}

export function RemovalDialog({ name, list, call }: RemovalProps) {
  const [opened, dialog] = useDisclosure(false)
  const [typed, setTyped] = useState('')
  const [, navigate] = useLocation()
  const preview = useQuery({
    queryKey: [list, 'removal', name],
    queryFn: () => call({ dry_run: true }),
    enabled: opened,
    gcTime: 0,
  })
  const close = () => {
    dialog.close()
    setTyped('')
  }
  const act = useAct({
    call: (end: boolean) => call({ end }),
    changes: [list],
    done: () => REMOVAL.done(name),
    onDone: () => navigate(`/${list}`),
    onOver: close,
  })
  return (
    <>
      <Button variant="default" color="red" onClick={dialog.open}>
        {REMOVAL.label}
      </Button>
      <ConfirmDialog
        opened={opened}
        title={REMOVAL.title(name)}
        act={REMOVAL.label}
        danger
        busy={act.isPending}
        disabled={preview.data === undefined || typed !== name}
        onConfirm={(given) => act.mutate(given.has('end'))}
        onClose={close}
      >
        <p>{REMOVAL.lead}</p>
        <Loaded query={preview}>{(counted) => <RemovalPreview {...counted} />}</Loaded>
        <TextInput
          label={REMOVAL.typeName(name)}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </ConfirmDialog>
    </>
  )
}

function RemovalPreview({ pending, stored, records = {} }: RemovalCounts) {
  const rows = Object.entries({ ...records, ...stored }).filter(([, number]) => number > 0)
  const waiting = Object.entries(pending).filter(([, number]) => number > 0)
  return (
    <>
      {rows.length === 0 ? (
        <p>{REMOVAL.nothing}</p>
      ) : (
        <FactList rows={rows.map(([what, number]) => [what.replaceAll('_', ' '), numberText(number, LOCALE)])} />
      )}
      {waiting.length > 0 && (
        <Checkbox
          name="end"
          label={REMOVAL.end(waiting.map(([what, number]) => `${what} ${numberText(number, LOCALE)}`).join(', '))}
          description={REMOVAL.endNote}
        />
      )}
    </>
  )
}
