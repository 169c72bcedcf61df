/** Texts of the removal of a participant or a registry. */
export const REMOVAL = {
  label: 'Remove',
  title: (name: string) => `Remove ${name}`,
  lead: 'All of this is deleted, and cannot be taken back. Audit entries stay.',
  nothing: 'Nothing is stored of it.',
  typeName: (name: string) => `Type ${name} to remove it`,
  end: (pending: string) => `End what is pending: ${pending}`,
  endNote: 'Otherwise the removal is refused until nothing is pending.',
  done: (name: string) => `${name} is removed.`,
} as const
