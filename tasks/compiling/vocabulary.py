"""Word lists of the compiler, kept apart so that its algorithms can be read.

They are for judging sentences, titles and tags; search has its own tokenizer.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ABBREVIATIONS = _words(
    """
    mr mrs ms dr prof sr jr st mt ft gen col lt sgt capt cmdr adm maj rev hon gov sen rep pres vs etc approx
    ca cf al fig figs eq eqs sec no nos vol vols pp p ch ed eds inc ltd co corp dept univ assn bros est jan
    feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun e.g i.e u.s u.k
    u.n a.m p.m ph.d m.sc b.sc b.a m.a d.c z.b d.h u.a bzw usw evtl nr str bd hrsg geb gest jh vgl
    sog ggf inkl zzgl bspw abs abb kap s.o s.u u.u i.d.r mme mlle sra
    dra art núm av т.е т.д т.п г гг в вв им ул стр рис
    """
)
"""Lower-case words after whose full stop a sentence goes on."""

MAY_END = _words("etc a.m p.m u.s u.k u.n al co inc ltd corp jr sr no art в г")
"""Abbreviations that also end sentences."""

STOP_WORDS = _words(
    """
    a about above after again against all also although am among an and any are as at be became because been
    before being below between both but by came can could did do does doing down during each either else
    even ever every few first for from further get got had has have having he her here hers herself him
    himself his how however i if in into is it its itself just last like made make many may me might more
    most much must my myself never new no nor not now of off often on once one only or other our ours out
    over own per quite rather said same say says see she should since so some still such than that the their
    theirs them themselves then there these they this those though three through thus to too two under until
    up upon us use used using very via was way we well were what when where which while who whom whose why
    will with within without would yet you your yours don't doesn't didn't isn't wasn't it's that's i'm
    you're we're they're can't won't der die das den dem des ein eine einer einem einen und oder aber ist
    sind war waren wird wurde wurden werden mit von zu zum zur auf für aus bei nach über unter vor auch als
    wie nicht noch nur im es er sie ich wir ihr sein seine ihre dass sich dann hier da um le la les un une
    du de et ou mais est sont était étaient dans par pour sur avec sans que qui dont ce cet cette ces il
    elle ils elles nous vous je se sa son ses leur leurs au aux en y ne pas plus comme el los las una unos
    unas o pero era eran fue fueron por para con sin del al lo su sus más como este esta estos estas él ella
    ellos gli uno e ma è sono della dello dei delle nel nella di che non più si suo sua os uma mas é são foi
    foram em na nos nas pelo pela com sem dos seu não het een van op te dat niet zijn wordt werd ook maar
    bij om и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне
    было вот от меня еще ещё нет о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас
    нибудь опять уж вам ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем
    была сам чтоб без будто чего раз тоже себе под будет ж тогда кто этот того потому этого какой совсем ним
    здесь этом один почти мой тем чтобы нее были куда зачем всех при это который في من على إلى عن أن إن كان
    كانت هو هي هذا هذه ذلك التي الذي و أو ثم قد ما لا لم كل بعد قبل مع عند بين
    """
)
"""Words that carry no content, in the languages of the splitter."""

GENERIC = _words(
    """
    introduction overview summary abstract background conclusion conclusions discussion results methods
    method history details notes references appendix contents about home index news article page report
    document note data table figure images media related facts design legacy impact reception development
    construction operation description specifications specification features usage applications application
    example examples early life career death timeline origins origin purpose programming hardware software
    architecture performance future today acknowledgements model models system machine computer project
    company people event events other others general information date year name type value list main text
    title source sources video transcript computing basics questions key points einleitung geschichte fazit
    zusammenfassung histoire historia введение история 简介 历史 概述 背景 结论 概要 歴史 결론 개요 مقدمة
    service services parts part problem problems machinery purpose influence secrecy numbers money operation structure
    biography youth family works career honours awards discovery invention culture economy geography climate education
    politics sport science religion cause causes effects treatment symptoms recipe ingredients instructions
    requirements installation usage setup configuration troubleshooting changelog license faq
    """
)
"""Words that name no subject: usual headings and titles of files."""

DULL = _words(
    """
    time year years day days week month people man men woman women way thing things part number world work
    place case point fact lot kind end one two three four five six seven eight nine ten hundred thousand
    million billion percent today yesterday tomorrow monday tuesday wednesday thursday friday saturday
    sunday january february march april june july august september october november december good great big
    small large long high low old young early late different important possible able available second third
    next previous following later earlier show shown find found give given take taken come came go went know
    known think thought want look need feel become include including included called based used using around
    company state group article figure table page section chapter example result results mr mrs ms dr set
    run full half whole left right back down side top put let try help start started began begin ended keep
    kept told tell asked ask added according really actually bit okay yeah gonna going
    built build made kept ran ranged came used sure rear there rest real main well away per cent lot amzn http https www
    com said call called name named month months hour hours minute minutes second seconds idea remark task use user dont
    """
)
"""Words too general to be tags."""
