/** A form that adds an operator token: its name, roles, registries and end. */
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { OPERATOR_ROLES, type OperatorRole } from '@rollcall/core/model/operator'
import { useState } from 'react'
import { answerTo, api } from '../../api/client.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { isoTimeOf } from '../../parts/filters.ts'
import { SecretShownOnce } from '../../parts/secret.tsx'
import { Loaded } from '../../parts/states.tsx'
import { useAct } from '../../parts/use-act.tsx'
import { useNamespaceQuery } from '../../parts/use-namespaces.ts'
import { OPERATORS } from '../../texts/settings.ts'
import styles from './settings.module.css'

const { add: ADD } = OPERATORS

const EMPTY_FORM: {
  readonly name: string
  readonly roles: OperatorRole[]
  readonly registries: string[]
  readonly expires: string
} = { name: '', roles: [], registries: [], expires: '' }

export function AddOperator() {
  const [opened, dialog] = useDisclosure(false)
  const [given, setGiven] = useState(EMPTY_FORM)
  const namespaces = useNamespaceQuery()
  const act = useAct({
    call: callAddOperator,
    changes: ['operators'],
    onOver: () => {
      dialog.close()
      setGiven(EMPTY_FORM)
    },
  })
  const set = (changes: Partial<typeof EMPTY_FORM>) => setGiven({ ...given, ...changes })
  return (
    <>
      <Button onClick={dialog.open}>{ADD.act}</Button>
      <ConfirmDialog
        opened={opened}
        title={ADD.act}
        act={ADD.confirm}
        busy={act.isPending}
        // Without the choice of registries the token would be for all of them.
        disabled={given.name.trim() === '' || given.roles.length === 0 || namespaces.data === undefined}
        onConfirm={() => act.mutate(given)}
        onClose={dialog.close}
      >
        <div className={styles.form}>
          <TextInput
            label={ADD.name}
            description={ADD.nameAdvice}
            data-autofocus
            required
            withAsterisk={false}
            autoComplete="off"
            value={given.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Checkbox.Group
            label={ADD.roles}
            value={given.roles}
            onChange={(roles) => set({ roles: OPERATOR_ROLES.filter((role) => roles.includes(role)) })}
          >
            <div className={styles.roles}>
              {OPERATOR_ROLES.map((role) => (
                <Checkbox key={role} value={role} label={role} description={OPERATORS.meanings[role]} />
              ))}
            </div>
          </Checkbox.Group>
          <Loaded query={namespaces} lines={2}>
            {(all) =>
              all.length > 0 && (
                <RegistryChoice namespaces={all} chosen={given.registries} onChange={(registries) => set({ registries })} />
              )
            }
          </Loaded>
          <TextInput
            type="datetime-local"
            label={ADD.expires}
            description={ADD.expiresAdvice}
            value={given.expires}
            onChange={(event) => set({ expires: event.currentTarget.value })}
          />
        </div>
      </ConfirmDialog>
      <SecretShownOnce
        title={ADD.secretTitle(act.data?.name ?? '')}
        what={ADD.what}
        value={act.data?.token ?? null}
        onClose={act.reset}
      />
    </>
  )
}

function callAddOperator({ name, roles, registries, expires }: typeof EMPTY_FORM) {
  const expires_at = isoTimeOf(expires)
  const bounds = { ...(registries.length > 0 && { registries }), ...(expires_at !== undefined && { expires_at }) }
  return answerTo(api.POST('/admin/v1/operators', { body: { name: name.trim(), roles, ...bounds } }))
}

interface RegistryChoiceProps {
  readonly namespaces: readonly string[]
  readonly chosen: string[]
  readonly onChange: (registries: string[]) => void
}

function RegistryChoice({ namespaces, chosen, onChange }: RegistryChoiceProps) {
  return (
    <Checkbox.Group label={ADD.registries} description={ADD.registriesAdvice} value={chosen} onChange={onChange}>
      <div className={styles.roles}>
        {namespaces.map((namespace) => (
          <Checkbox key={namespace} value={namespace} label={namespace} />
        ))}
      </div>
    </Checkbox.Group>
  )
}
