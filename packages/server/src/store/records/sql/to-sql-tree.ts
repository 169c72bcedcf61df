/** What holds leaves together, the same over a record and over an element of a list. */
import type { AllOf, AnyOf, Negation, Predicate } from '../../../model/predicate.ts'

export type Leaf = Exclude<Predicate, AllOf | AnyOf | Negation>

/**
 * The tree's form that is true when the tree is `asked`: definitely true, or definitely false. A negation asks the
 * opposite of what it holds, all the way down to the leaves, so no SQL ever negates what may be null.
 */
export function treeForm(
  predicate: Predicate,
  asked: boolean,
  leafForm: (leaf: Leaf, asked: boolean) => string,
): string {
  switch (predicate.is) {
    case 'not':
      return treeForm(predicate.of, !asked, leafForm)
    case 'and':
    case 'or':
      return join(
        (predicate.is === 'and') === asked ? 'and' : 'or',
        predicate.of.map((part) => treeForm(part, asked, leafForm)),
      )
    default:
      return leafForm(predicate, asked)
  }
}

/** What the tree is of an element that has nothing; null for unknown. */
export function truthOfNothing(predicate: Predicate): boolean | null {
  switch (predicate.is) {
    case 'not': {
      const truth = truthOfNothing(predicate.of)
      return truth === null ? null : !truth
    }
    case 'and':
    case 'or': {
      const decides = predicate.is === 'or'
      const truths = predicate.of.map(truthOfNothing)
      if (truths.includes(decides)) return decides
      return truths.includes(null) ? null : !decides
    }
    default:
      return predicate.is === 'exists' ? false : null
  }
}

export function join(word: 'and' | 'or', forms: readonly string[]): string {
  const [only] = forms
  return forms.length === 1 && only !== undefined ? only : `(${forms.join(` ${word} `)})`
}

/** Every leaf of a tree. */
export function leavesOf(predicate: Predicate): readonly Leaf[] {
  switch (predicate.is) {
    case 'not':
      return leavesOf(predicate.of)
    case 'and':
    case 'or':
      return predicate.of.flatMap(leavesOf)
    default:
      return [predicate]
  }
}

/** What must be true together for the tree to be true: the parts of an `and`, of those in it as well. */
export function conjuncts(predicate: Predicate): readonly Predicate[] {
  return predicate.is === 'and' ? predicate.of.flatMap(conjuncts) : [predicate]
}
