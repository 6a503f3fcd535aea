/** The form in which two spellings of a text are compared. */

/** Two ligatures of whole Arabic phrases, which become 18 and 8 characters: they spell no name and no number. */
const phrases = /[\ufdfa\ufdfb]/g

/** NFKC, but no character becomes more than six, so that the work for a text follows from its length. */
export const normalForm = (text: string): string => text.replace(phrases, ' ').normalize('NFKC')
