import { AN, echoed, group, none, O, oneOf, pan, person, request, sad } from '../table.ts'

const occasions = oneOf(
  'ANNIVERSARY', 'BIRTHDAY', 'CONGRATULATIONS', 'APRIL_FOOLS_DAY', 'EASTER', 'FATHERS_DAY',
  'GRADUATION', 'HOLIDAY', 'SEASONS_GREETINGS', 'PASSOVER', 'KWANZAA', 'HALLOWEEN', 'MOTHERS_DAY',
  'NEW_YEARS_DAY', 'BOSSES_DAY', 'ST_PATRICKS_DAY', 'SWEETEST_DAY', 'CHRISTMAS', 'BABY_SHOWER',
  'THANKSGIVING', 'OTHER', 'VALENTINES_DAY', 'WEDDING', 'SECRETARYS_DAY', 'CHINESE_NEW_YEAR',
  'HANUKKAH', 'CELEBRATE_FALL', 'GRANDPARENTS_DAY', 'INDEPENDENCE_DAY',
)

/** Gift card used for payment, or bought. */
export const giftCard = group('giftCard', 'Gift card', [
  // name     format      need direction class   meaning
  ['number',  AN(2, 255), O,   request, pan,    'Number of the gift card.'],
  ['pin',     AN(2, 255), O,   request, sad,    'PIN of the gift card. Used once, never stored.'],
  ['holder',  AN(2, 255), O,   echoed,  person, "Name of the gift card's owner."],
  ['message', AN(160),    O,   echoed,  person, 'Text printed with the gift card.'],
  ['type',    occasions,  O,   echoed,  none,   'Occasion of the gift.'],
])
