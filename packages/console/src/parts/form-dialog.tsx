/** A button for an act, which opens a dialog with a preview, and fields if the act needs input. */
import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { ConfirmDialog } from './confirm.tsx'
import { type DialogField, Field } from './field.tsx'
import { FormValues } from './form-values.ts'
import { useAct } from './use-act.tsx'

interface DialogProps<Output> {
  /** The word on the button that opens the dialog. */
  readonly label: string
  readonly title: string
  /** The word on the button that does the act (default: the label). */
  readonly act?: string
  readonly danger?: boolean
  /** True for the main act of a page, whose button is filled. */
  readonly main?: boolean
  readonly small?: boolean
  /** True while the act cannot be begun. */
  readonly disabled?: boolean
  /** Called when the dialog opens. The caller then copies the present values, which the fields show at first. */
  readonly onOpen?: () => void
  readonly fields?: readonly DialogField[]
  /** The preview of the act. */
  readonly children?: ReactNode
  readonly call: (given: FormValues) => Promise<Output>
  /** The answers in the query cache that the act changes: for each, the first member of its query key. */
  readonly changes: readonly string[]
  readonly done?: (output: Output) => ReactNode
  readonly onDone?: (output: Output) => void
}

export function FormDialog<Output>(props: DialogProps<Output>) {
  const { label, title, act = label, danger = false, main = false, small = false, fields = [], children, onOpen } = props
  const [opened, dialog] = useDisclosure(false)
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({})
  const close = () => {
    dialog.close()
    setChosen({})
  }
  const doing = useAct({ ...props, onOver: close })
  const firstValue = (field: string) => fields.find(({ name }) => name === field)?.value
  const isShown = ({ when = [] }: DialogField): boolean =>
    when.every(({ field, is }) => is.includes(chosen[field] ?? String(firstValue(field))))
  return (
    <>
      <Button
        variant={small ? 'subtle' : main ? 'filled' : 'default'}
        size={small ? 'compact-sm' : 'sm'}
        color={danger ? 'red' : 'accent'}
        disabled={props.disabled}
        onClick={() => {
          onOpen?.()
          dialog.open()
        }}
      >
        {label}
      </Button>
      <ConfirmDialog
        opened={opened}
        title={title}
        act={act}
        danger={danger}
        busy={doing.isPending}
        onConfirm={(given) => doing.mutate(new FormValues(given))}
        onClose={close}
      >
        {children}
        {fields.filter(isShown).map((field) => (
          <Field
            key={`${field.name} ${JSON.stringify(field.when)}`}
            {...field}
            onChoice={(value) => setChosen((others) => ({ ...others, [field.name]: value }))}
          />
        ))}
      </ConfirmDialog>
    </>
  )
}
