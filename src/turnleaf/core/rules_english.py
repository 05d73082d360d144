"""How English states facts about its speaker, in patterns that match a whole clause."""

from __future__ import annotations

from functools import partial

from turnleaf.core.rules_grammar import PERSON, Grammar, Rule, Vocabulary

WORDS = {
    "relative": r"""
        (?:mother|father|brother|sister|son|daughter)[-_]in[-_]law in-law wife hubby husband
        partner girlfriend boyfriend fianc[eé]e? spouse ex son daughter kid boy girl child
        children baby toddler twin mother mum mom father dad parent brother sister sibling
        grandma grandmother granny nana grandpa grandfather granddaughter grandson aunt uncle
        niece nephew cousin gran nan stepson stepdaughter stepmum stepmom stepdad godson
        goddaughter
        """,
    "pet": """
        dog cat puppy pup kitten kitty parrot hamster rabbit bunny turtle tortoise fish goldfish
        bird pet horse pony snake guinea_pig gecko chicken budgie cockatiel corgi labrador lab
        poodle retriever shiba husky beagle dachshund pug collie
        """,
    "acquaintance": """
        boss manager supervisor co-?worker colleague teammate roommate housemate flatmate landlord
        neighbou?r landlady doctor dentist gp vet therapist teacher tutor coach trainer nanny
        babysitter cleaner gardener friend bestie mentor professor advisor accountant lawyer
        hairdresser barber plumber team_lead
        """,
    "which": r"""
        younger older little big elder eldest oldest youngest middle new best other first second
        two three four \d golden french family rescue piano guitar english old
        """,
    "device": """
        lamp light lightbulb bulb switch plug outlet speaker tv television vacuum vacuum_cleaner
        roomba robot mower fan heater thermostat air_?con air_conditioner ac curtain blind
        shutter door doorbell lock camera sensor fridge oven kettle washer washing_machine dryer
        dishwasher humidifier dehumidifier air_purifier purifier printer router nas server
        laptop computer pc phone tablet ipad car van truck bike bicycle scooter motorbike
        motorcycle boat room bedroom kitchen bathroom office study garage garden balcony attic
        basement nursery den house flat apartment plant cactus guitar piano machine maker wi-?fi
        network scene shelf drawer desk sofa couch boiler pump charger macbook hallway heating
        lawnmower dimmer fireplace
        """,
    "nameless": r"""
        he she it they you who what this that these those there here every\w* nobody some\w*
        people most many all any\w* the an? if when so but and or please do does did is are can
        could would will siri alexa yes no not my our your his her its their let let's i we one
        none both nothing which how why where then also now hers mine nice good great sounds
        thanks turn set still i'm later back today tomorrow tonight yesterday work home life
        time
        """,
    "adverb": """
        really absolutely also just generally normally mostly mainly typically currently
        personally still definitely only both all do does usually always actually truly quite
        kinda especially much too particularly totally genuinely simply have even recently
        all_of_us kind_of sort_of
        """,
    "not": """
        do(?:es)?n't do(?:es)?_not do(?:es)?nt no_longer never can't cannot can_not cant won't
        """,
    "often": """
        usually normally generally always often typically tends?_to rarely hardly_ever never
        mostly almost_always seldom regularly
        """,
    "no_habit": """
        said knew thought wondered understood asked wanted had got saw did was were been mind
        forget know wonder heard seem think feel believe expected reali[sz]ed noticed tried
        happened knows get_(?:this|that) see_(?:this|that) met used agreed liked told mean will
        'll want would went could wish should have_(?:been|to_go|to_leave) need_you 'd be can
        might made don't_ask struggle mess worry try hope regret
        """,
    "no_object": r"""
        this that these those its? you your yours how where them him her what myself everything
        ones? another nothing something so to better more less both neither either not and each
        if option when my_(?:life|own) an?_(?:summary|list|few|quick|refund|bit|lot)
        the_(?:way|idea|answer|result|sound_of|look_of|first|second|third|last|latter|former|other)
        the_(?:one|new|suggestion|plan|design|version|joke|story|output|previous|fact)
        the_\w+_one being_(?:here|able) talking_to where hearing
        """,
    "no_doing": """
        know see ask think point say add mention thank bother admit hear be_able break have_a_word
        disappoint interrupt
        """,
    "job": r"""
        nurse doctor surgeon teacher engineer developer dev programmer student chef cook pilot
        judge lawyer attorney accountant designer writer author artist musician manager director
        founder co-?founder consultant analyst scientist researcher professor lecturer architect
        electrician plumber carpenter mechanic driver farmer baker barista bartender
        photographer editor journalist translator interpreter dentist vet veterinarian
        pharmacist physiotherapist therapist psychologist librarian paramedic firefighter
        policeman officer soldier freelancer contractor entrepreneur salesman salesperson
        realtor broker banker trader technician administrator sysadmin admin assistant secretary
        receptionist cashier waiter waitress tutor coach trainer guide homemaker housewife
        stay-at-home_(?:mum|mom|dad|parent) intern postdoc undergrad freshman sophomore retiree
        ceo cto cfo coo pm product_owner lead owner copywriter gardener florist hairdresser
        tailor potter singer dancer actor actress filmmaker producer dj streamer marketer
        recruiter economist biologist chemist physicist mathematician statistician pianist
        violinist guitarist sailor dietitian nutritionist illustrator animator
        \w{3,}(?:ologist|ographer|ician|keeper|maker|worker|smith|operator|inspector|instructor)
        """,
    "kind_of_person": r"""
        runner cyclist swimmer climber gamer night_owl early_bird morning_person night_person
        smoker (?:light|heavy)_sleeper widow widower christian muslim buddhist catholic hindu
        atheist single_(?:mum|mom|dad|parent) (?:mother|father|dad|mum|mom|parent)_of_\w+
        vegetarian vegan pescatarian coeliac celiac diabetic non-smoker native_speaker beginner
        hiker reader (?:coffee|tea|cat|dog|people)_person introvert extrovert foodie bookworm
        perfectionist
        """,
    "lasting": r"""
        vegetarian vegan pescatarian co?eliac diabetic lactose[-_]intolerant keto halal kosher
        gluten[-_](?:free|intolerant) teetotal colou?r[-_]?blind left-handed right-handed
        left_handed lefty deaf blind hard_of_hearing dyslexic autistic asthmatic epileptic
        pregnant ana?emic short-sighted near-?sighted far-?sighted sober claustrophobic
        (?:afraid|scared|terrified)_of_.{1,60} sensitive_to_.{1,60} intolerant_(?:to|of)_.{1,60}
        on_an?_.{1,30}_diet
        """,
    "nationality": r"""
        (?-i:[A-Z])[a-z]+(?:ese|wegian) American Australian Austrian Belgian Brazilian British
        Canadian Colombian Czech Danish Dutch Egyptian English Filipino Finnish French German Greek
        Hungarian Indian Indonesian Iranian Irish Israeli Italian Korean Malaysian Mexican
        New_Zealander Nigerian Polish Romanian Russian Scottish Singaporean Spanish Swedish Swiss
        Thai Turkish Ukrainian Welsh
        """,
    "status": """
        retired self-employed unemployed married divorced bilingual trilingual freelance engaged
        widowed separated
        """,
    "illness": r"""
        asthma diabetes adhd autism dyslexia migraines? eczema psoriasis arthritis epilepsy
        hay_?fever blood_pressure cholesterol co?eliac(?:_disease)? ibs gerd acid_reflux
        insomnia sleep_apnea tinnitus allerg(?:y|ies) intolerance anxiety depression back_pain
        vertigo scoliosis gout hypertension ana?emia pacemaker hearing_aids? crohn'?s lupus pcos
        endometriosis sensitive_(?:skin|stomach|teeth) bad_(?:back|knees?)
        """,
    "owned": """
        <device>s? tesla toyota honda bmw ford mazda volvo subaru cottage allotment greenhouse
        camper campervan iphone pixel android thinkpad playstation xbox synology raspberry_pi
        kindle drone telescope violin cello drum_kit sauna pool startup blog podcast tattoo
        mac_mini licen[sc]e solar_panels? fireplace
        """,
    "mine": """
        editor ide shell terminal os operating_system browser phone phone_number number mobile
        laptop computer pc car bike bicycle motorbike scooter address e-?mail e-?mail_address
        time_?zone height shoe_size size ring_size blood_type zodiac_sign star_sign hobby
        hobbies job job_title title role occupation profession team company employer school
        university college major degree language tongue mother_tongue hometown home_town city
        nationality gym commute startup blog website handle username github instagram pronouns
        stack tech_stack keyboard keyboard_layout distro framework database licen[sc]e_plate
        number_plate plate_number ssid network_name router diet internet_provider provider bank
        religion instrument backend frontend repo project currency side_project thesis
        dissertation department desk locker apartment unit room_number coffee_order
        working_hours work_hours office_hours lunch_break bedtime days?_off standup
        cloud_provider flat wi-?fi_name wi-?fi_network gamertag extension parking_spot
        parking_space house_number apartment_number flat_number unit_number seat locker_number
        """,
    "mine_which": """
        main home work new current personal own preferred default usual native first second daily
        primary full coffee dev
        """,
    "no_value": r"""
        not so too very really slow broken dead down low on off out full in at being making acting
        going getting running gone here there dirty old giving always killing this that stuck lost
        frozen boring hard great fine good bad almost about_to \w+ing ready due late empty better
        ruined missing what where cold hot messy loud a_mess a_bit done finished down
        """,
    "happens": """
        comes? go(?:es)?_out
        (?:is|are|gets?)_(?:collected|picked_up|emptied|paid|delivered|watered)
        (?:is|are)_(?:closed|open|due|off|cleaned|fed|out) runs? opens? closes? starts? begins?
        ends? finish(?:es)? meets? arrives? leaves? happens? takes?_place has have visits?
        cleans? waters? turns?_(?:on|off) does plays? practi[sc]es? trains? swims? works?
        gets?_(?:up|home|back|off) wakes?_up eats? needs? takes? teaches attends? is are
        go(?:es)?_to does
        """,
    "no_use": """
        this that these those it them you your my
        the_(?:following|same|above|command|code|word|other) to his her
        an?_(?:different|lot|new|few) all both some
        """,
    "month": """
        january february march april may june july august september october november december
        jan feb mar apr jun jul aug sept? oct nov dec
        """,
    "nowhere": """
        this that here there it peace fear an?_(?:world|society|dream|rush|hurry|simulation) him
        her the_(?:moment|past|present) them it
        """,
    "bins": """
        bins? trash garbage rubbish recycling bin_day trash_day garbage_day recycling_day
        laundry_day compost garden_waste bin_men garbage_truck
        """,
    "asked_for": """
        answer reply respond call use speak write give address explain format keep talk wake
        send show start include book order put play set turn suggest recommend buy offer mention
        serve cook
        """,
}
_PARTS = {
    "rel": "(?:<which> ){0,2}(?:<relative>|<pet>|<acquaintance>)s?",
    "cap": (
        r"(?!<nameless>\b)(?-i:[A-Z\u00c0-\u00de\u3400-\u9fff])(?:[\w.-]|'(?!s\b)){0,30}"
        r"(?: (?:(?:de|van|von|la|der|den|bin|al) )?(?-i:[A-Z])(?:[\w.-]|'(?!s\b)){0,30}){0,3}"
    ),
    "names": "[\"'「]?(?P<value><cap>(?:(?:, and |, | and | & )<cap>){0,4})[\"'」]?",
    "name": r"[\"'「]?(?P<value>[^\W_][\w'.-]{0,30}(?: [\w'.-]{1,30}){0,3}?)[\"'」]?",
    "am": r"(?:'m| am|m(?= )|'s| is|'re| are|(?:'ve| have|'s| has) been)",
    "is": "(?:'s| is| are|'re)",
    "be_no": "(?<!'m)(?<! am)(?<! is)(?<! are)(?<!'s)(?<!'re)(?<! do)(?<! does)(?<! did)(?<! can)",
    "adv": "(?:'ve )?(?:<adverb> ){0,3}",
    "ve": "(?:'ve| have|'s| has)?(?: just| recently| finally| since| also){0,2}",
    "led": (
        "(?P<when>(?:at|in|on|for|during|before|after|with|when|whenever|while|most|as|to|every"
        "|each) [^,]{1,60}?,? )?"
    ),
    "person": PERSON,
    "who": "(?:i|we|<person>|(?P<of><cap>))",
    "i": "(?:i|we|<person>)",
    "whose": "(?:my|our|<person>'s?|(?P<of><cap>)'s)",
    "rest": "(?P<value>.{1,140})",
    "day": "(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?",
    "every": (
        r"(?:(?:every|each) (?:single |other |second |few |\d+ |two |three )?(?:\w+ )?(?:mornings?"
        r"|days?|evenings?|nights?|afternoons?|weeks?|weekends?|weekdays?|months?|years?|summer"
        r"|winter|spring|autumn|fall|hours?|minutes|<day>|christmas)\b"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:weekdays|weekends|weeknights)\b"
        r"|\b(?:work ?days|most (?:mornings|days|nights|evenings|weekends)|daily|weekly"
        r"|monthly|nightly|at weekends)\b"
        r"|\b(?:once|twice|three times|\d times|\d+x) (?:a|per) (?:day|week|month|year)\b"
        r"|\bin the (?:mornings|evenings|afternoons)\b|\b<day>s?(?:, | and | & )<day>s?\b"
        r"|\b<day> (?:mornings|evenings|nights|afternoons)\b)"
    ),
    "liked": (r"(?P<value>to (?!<no_doing>\b)\w.{2,120}|(?!<no_object>\b)\w.{1,140}|\".{1,140})"),
    "count": r"(?:an?|one|two|three|four|five|six|seven|\d{1,2}|a couple of|several)",
    "date": (
        r"(?:on |in )?(?:the )?(?P<date>.{0,14}\b<month>\b.{0,20}"
        r"|\d{1,4}[/.-]\d{1,2}(?:[/.-]\d{1,4})?|\d{4})"
    ),
    "degrees": r".{0,40}\b\d{2}(?:\.\d)?(?: ?(?:°|degrees|c\b|f\b|celsius|percent|%))?"
    r"(?: .{0,40})?",
    "named": "(?:(?:'s|'|s')? names? (?:is|are)|(?:'s| is| are)(?: called| named| nicknamed)"
    "| goes by)",
    "thing": (
        r"(?:the|my|our) (?P<of>(?:[\w'&-]+ ){0,5}<device>s?"
        "(?: (?:in|on|at|by|next to|above|under) .{1,40}?)?)"
    ),
    "we": (
        "(?:i|we|(?:my|our|the) (?:team|company|project|backend|frontend|app|site|service|codebase"
        "|stack|api|startup|lab|office))"
    ),
    "number": (
        r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
        r"|(?:twenty|thirty|forty|fifty|sixty)(?:-\w+)?)"
    ),
}
_VOCABULARY = Vocabulary(str, WORDS)
_VOCABULARY.define(_PARTS)
_compile = _VOCABULARY.compile
_spelt = _VOCABULARY.spelt
_rule = _VOCABULARY.rule
_person = partial(_VOCABULARY.person, "People")
_change = _VOCABULARY.change

_NAMES = (
    _rule(
        "People",
        "name|user",
        r"my (?:full |first |real |legal |given )?name(?: is|'s) "
        r"(?:spel(?:led|t) )?(?!(?:not|on|in|hard|pronounced|spel\w+|the|an?|very|too"
        r"|often|also)\b)<name>"
        "(?:,? with .{1,30})?",
    ),
    _rule(
        "People",
        "{kind}|user",
        "my (?P<kind>last name|surname|middle name|nickname|maiden name|gamertag)(?: is|'s) <name>",
    ),
    _rule(
        "People",
        "called|user",
        "(?:from now on,? )?"
        "(?:(?:you can|please|just|you may|everyone|everybody|people|my [a-z]+|<person>"
        "|friends|they"
        "|feel free to) ){0,2}(?:all |just |usually )?calls? me "
        r"(?!(?:back|later|when|at|an?|if|tomorrow|crazy|in|on|tonight|soon|maybe|old|the"
        r"|by|out|names"
        r"|for|and|every\w*|again|up|before|after|once|first|as|to|an?|asap|right|this"
        r"|that)\b)<name>",
    ),
    _rule(
        "People",
        "called|user",
        "i(?: go by|(?:'m| am) called| (?:prefer|like) (?:to be|being) called) <name>",
    ),
    _rule(
        "People",
        "nationality|user",
        "i(?:'m| am|m) (?P<value><nationality>)",
    ),
    _rule(
        "People",
        "name|user",
        r"i(?:'m| am) (?P<value>(?!Sorry|Done|Fine|Back|Here|Sure|Not|Happy|Good|Vegan|OK"
        r"|Ok|So|Very)"
        r"(?-i:[A-Z][a-z]{2,15}(?: [A-Z][a-z]{1,15})?))",
    ),
    _person("name|{of}", "<person><named> <name>(?P<more> (?:and|who|because|after).{0,60})?"),
    _person(
        "name|{of}", "<person>(?:,| is|'s| are) <names>(?P<more> (?:at|from|in|who|and) .{1,60})?"
    ),
    _person("name|{of}", "<names><is> (?:the name of )?<person>(?:'s name)?"),
    _person(
        "name|{of}",
        r"<i><ve> (?:have|has|own|got|adopted|had) (?:an?|one) (?P<of>(?:[\w-]+ ){0,2}?"
        "(?:<relative>|<pet>|<acquaintance>))(?:,? (?:called|named)|,) <name>",
    ),
)
_THINGS = (
    _rule(
        "Home", "called|{of}", "<thing>(?: is| are)(?: now| nicknamed| called| named){1,2} <name>"
    ),
    _rule("Home", "called|{of}", "<thing>'s (?:nick)?name is <name>"),
    _rule("Home", "called|{of}", "(?:i|we)<ve> (?:named|call|nicknamed|christened) <thing> <name>"),
    _rule("Home", "called|{of}", "let's call <thing> <name>"),
    _rule("Home", "called|{of}", "<thing> is what (?:i|we) call <name>"),
    _rule(
        "Home",
        "called|{of}",
        r"(?:my|our) (?P<of>[\w' -]{2,40}) (?:is|are) (?:called|named|nicknamed) (?P<value><cap>)",
    ),
    _rule(
        "Home",
        "place|{of}",
        "(?:the|my|our) (?P<of>(?:spare |extra |house |car )?keys?|passports?|fuse ?box"
        "|toolbox|tools"
        "|first[- ]aid kit|stopcock|main valve|spare batter(?:y|ies)|circuit breaker"
        "|ladder|<device>)"
        "(?: lives?| sits?|(?: is| are)(?: always| kept| stored){1,2}) "
        "(?P<value>(?:in|on|under|behind|above|next to|at) .{2,60})",
    ),
    _rule(
        "Home",
        "place|{of}",
        "(?:the|my|our) (?P<of>(?:spare|extra|emergency) .{2,20}|fuse ?box|toolbox|first[- ]aid kit"
        "|stopcock|main valve|circuit breaker|breaker box|water shutoff)(?: is| are|'s) "
        "(?P<value>(?:in|on|under|behind|above|next to|at|inside) .{2,60})",
    ),
    _rule(
        "Home",
        "schedule|{of}",
        "(?:the|our|my) (?P<of>(?:school |shuttle |company )?bus|mail|mailman|postman"
        "|milkman|dog walker"
        r"|newspaper|shuttle|water delivery)(?: usually| always)? (?:comes|arrives|leaves"
        r"|is delivered)"
        r"(?P<value> (?:at|around|by|on|every|before|after) .{1,40})",
    ),
    _change("Home", "called|{of}", "(?:i|we)<ve> renamed <thing> (?:to |as )?<name>"),
    _rule(
        "Home",
        "called|{of}",
        "[\"'「]?(?P<value><cap>)[\"'」]? is (?:the name of |what (?:i|we) call )?<thing>"
        "(?:'s name)?",
    ),
    _rule(
        "Home",
        "means|{of}",
        r"(?:when(?:ever)? (?:i|we) say|by) [\"'「]?(?P<of>[^,\"」]{1,40}?)[\"'」]?,? (?:i"
        r"|we)(?:'m| am)? "
        "(?:always )?(?:mean|refer to|talking about|referring to) <rest>",
    ),
    _rule(
        "Home",
        "means|{of}",
        '["「](?P<of>[^"」]{1,40})["」],? (?:means|refers to|stands for|is short for) <rest>',
    ),
    _rule(
        "Home",
        "called|wifi",
        "(?:my|our|the) (?:wi-?fi|network|ssid)(?: name| network| ssid){0,2}(?:'s name)?(?: is|'s)"
        r"(?: called| named)? (?!<no_value>\b)<name>",
    ),
)
_HEALTH = (
    _rule(
        "Health",
        None,
        "<i><am> trying to (?P<value>(?:lose weight|cut (?:down|back)|quit|eat (?:less"
        "|more)|gain weight"
        "|conceive|get (?:pregnant|fit)|reduce)(?: .{1,60})?)",
    ),
    _rule(
        "Health",
        None,
        "(?:my|<person>'s) (?P<value>(?:lower )?(?:back|knees?|hips?|shoulder|stomach"
        "|eyesight|hearing"
        "|memory|skin)(?: is| are) (?:bad|weak|poor|sensitive|not great|terrible)(?: .{1,40})?)",
    ),
    _rule("Health", None, "<i> keeps? (?P<value>kosher|halal)"),
    _rule(
        "Health",
        "allergic|{value}|{of}",
        r"<who><am> (?P<no>not |no longer )?(?:\w+ly |also |very |really |super |quite ){0,2}"
        r"allergic to "
        r"(?!<no_object>\b)(?P<value>.{1,100})",
        "yes",
    ),
    _rule(
        "Health",
        None,
        r"<i>(?:'ve got| has| have(?: got)?| suffers? from| was diagnosed with"
        r"| lives? with| gets?) "
        r"(?P<value>(?:[\w-]+ ){0,4}?<illness>)(?: .{1,60})?",
    ),
    _rule("Health", "blood type|{of}", "<whose> blood type(?: is|'s) <rest>"),
    _rule(
        "Health",
        "diet|{of}",
        "<i><am> (?P<no>not |no longer )?(?:(?:an?|strictly|strict|mostly|also) ){0,2}"
        "(?P<value>vegetarian|vegan|pescatarian|keto|halal|kosher)s?(?P<more> .{1,60})?",
    ),
    _rule(
        "Health",
        None,
        r"<i><am> (?P<value>(?:(?:an?|strictly|strict|mostly|severely|very|quite|currently) ){0,2}"
        "<lasting>s?(?: .{1,60})?)",
    ),
    _rule(
        "Health",
        "{verb}|{value}|{of}",
        r"<who> <adv>(?P<no><not>) (?P<verb>eat|drink|smoke|have|tolerate|digest|do) "
        r"(?!<no_object>\b)"
        r"(?P<value>(?!time|any|enough|access|much|a\b|the\b|money|plans|well|work|my\b)\w.{1,80})",
        "yes",
    ),
    _rule(
        "Habits",
        "{value}|{of}",
        "<i> <adv>(?P<no><not>) (?P<value>smoke|drink|drive|cook)(?: at all)?",
        "yes",
    ),
    _rule("Health", "eat|{value}|{of}", "<i> <adv>(?:avoids?|stay away from) <liked>", "not yes"),
    _rule(
        "Health",
        None,
        "<i> takes? (?P<value>.{2,60} (?:<every>|for (?:my|his|her) .{2,40}).{0,40})",
    ),
    _rule(
        "Health",
        None,
        "<i> wears? (?P<value>(?:reading |prescription )?glasses|contact lenses|contacts"
        "|(?:an? )?size .{1,20}|hearing aids?)(?: .{1,40})?",
    ),
    _change(
        "Health",
        "diet|user",
        "(?:i|we)<ve> (?:became|become|gone|went|turned) (?P<value>vegetarian|vegan|pescatarian"
        "|gluten-free|dairy-free|keto|sober)(?: .{1,40})?",
    ),
    _change(
        "Habits",
        "{verb}|{value}|user",
        "(?:i|we)<ve> (?:stopped|quit|given up|gave up) (?P<verb>eat|drink|smok)ing "
        r"(?P<value>(?!this|that|the|it)\w.{1,60})",
        "not yes",
    ),
    _change(
        "Habits",
        "does|{value}|user",
        "(?:i|we)<ve> (?:stopped|quit|given up|gave up|cut out) "
        r"(?P<value>(?!this|that|the|it|my job)\w.{1,60})",
        "not yes",
    ),
)
_PREFERENCES = (
    _rule(
        "Preferences",
        "likes|{value}|{of}",
        r"<i>(?:'ve| have|'s| has) (?P<no>never) (?:really )?(?:liked|enjoyed|cared for"
        r"|been into) <liked>",
        "yes",
    ),
    _rule(
        "Preferences",
        "likes|{value}|{of}",
        r"<i>(?:'ve got| has| have) a (?:soft spot|thing|weakness|sweet tooth)(?: for "
        r"(?P<value>.{2,60}))?",
        "yes",
    ),
    _rule(
        "Preferences",
        None,
        r"(?!<nameless>\b)(?P<value>.{2,40}) (?:(?:freaks?|creeps?|grosses?|stress(?:es)?) me out"
        "|makes? me (?:sick|sneeze|nauseous|itch|sleepy|anxious))",
    ),
    _rule(
        "Preferences",
        None,
        "(?:please )?(?:always )?use (?:metric|imperial|celsius|fahrenheit)(?: .{1,20})?",
    ),
    _rule(
        "Preferences",
        None,
        "<who> <adv>(?:likes?|loves?|hates?|prefers?|enjoys?) it (?:best )?when "
        r"(?!(?:you|this|that|it)\b)<rest>",
    ),
    _rule(
        "Preferences",
        None,
        "<i> (?:only|mostly|mainly) (?:listens?(?: to)?|watch|reads?|eats?|drinks?|wears?"
        "|uses?|buys?"
        r"|plays?|fly|flies|takes?|works?|cooks?) (?!<no_object>\b)<rest>",
    ),
    _rule(
        "Preferences",
        None,
        r"(?!<nameless>\b)(?P<value>.{2,60}) (?:is|are) what (?:i|we) (?:always |usually "
        r"|normally )?"
        "(?:prefer|use|like|drink|eat|drive)(?: .{1,30})?",
    ),
    _rule(
        "Preferences",
        "favourite {kind}|{of}",
        r"<whose> (?:all-time |absolute |current )?(?:favou?rite|fave|go-?to|preferred) "
        r"(?P<kind>[\w' -]{2,40}?)(?: is| are|'s) (?!(?:this|that|not|the one|what|when"
        r"|about)\b)<rest>",
    ),
    _rule(
        "Preferences",
        "favourite {kind}|user",
        r"(?P<value>(?!<nameless>\b).{2,60}?) (?:is|are) my (?:all-time |absolute )?"
        r"(?:favou?rite|go-to) (?P<kind>[\w' -]{2,40})",
    ),
    _rule(
        "Preferences",
        "setting|{kind}",
        "<led>(?:i|we) <adv>(?:like|prefer|want|keep|set|need|love|have) (?P<kind>(?:"
        "(?:the|my|our) )?"
        ".{0,30}(?:house|room|bedroom|office|flat|thermostat|heating|ac|air con"
        "|temperature|water|bath"
        "|shower|lights?|brightness|volume|kitchen|lamp|nursery|fridge|heater|home))"
        "(?: at| to| around| set to| about| be| on)(?P<value><degrees>)",
    ),
    _rule(
        "Preferences",
        "likes|{value}|{of}",
        "<led><who> <adv>(?:(?P<no><not>(?: really| particularly)? (?:like|love|enjoy|want|care for"
        "|stand|bear|listen to|watch)|hates?|dislikes?|detests?|loathes?|despises?)|likes?|loves?"
        "|enjoys?|adores?) <liked>",
        "yes",
    ),
    _rule(
        "Preferences",
        None,
        r"<led><who> <adv>prefers? (?:to )?(?!<no_object>\b)(?P<value>\w.{1,140})",
    ),
    _rule(
        "Preferences",
        "likes|{value}|{of}",
        "<i><am> (?P<no>not )?(?:really |totally |very |so |super |also ){0,2}(?:an? )?"
        "(?:(?:big|huge|massive|real) ){0,2}(?:fan of|into|fond of|obsessed with|crazy about"
        "|mad about|keen on|addicted to) <liked>",
        "yes",
    ),
    _rule(
        "Preferences",
        "takes|{kind}|{of}",
        "<i> <adv>(?:drinks?|takes?|eats?|has|have) (?:my|his|her|our) (?P<kind>coffee"
        "|tea|eggs|steak"
        "|toast|burgers?|whisk[e]?y|ramen|pizza|latte) <rest>",
    ),
    _rule("Preferences", None, r"(?:please )?(?:always|never) <asked_for>\b <rest>"),
    _rule("Preferences", None, "from now on,? <rest>"),
    _rule(
        "Preferences",
        None,
        r"<led>(?:i|we) (?:always|never|only) (?:want|need|like) (?!<no_object>\b)<rest>",
    ),
)
_PLACES = (
    _rule(
        "Places",
        "home|{of}",
        r"<i>(?:'ve| have|'s| has) (?:always )?lived (?:in|at|on|near) (?!<nowhere>\b)<rest>",
    ),
    _rule(
        "Places",
        "home|{of}",
        "<i> <adv>(?P<no><not> )?lives?(?: together| alone)? (?:in|at|on|near|by|close to|outside) "
        r"(?!<nowhere>\b)<rest>",
    ),
    _rule("People", None, r"<i> lives? (?:alone|with (?!<nowhere>\b)(?P<value>.{2,80}))"),
    _rule(
        "Places",
        "home|{of}",
        r"<i><am> (?:currently )?(?:based|located|living) (?:in|at|near) (?!<nowhere>\b)<rest>",
    ),
    _change(
        "Places",
        "home|{of}",
        "<i><ve> (?:moved|relocated)(?: house)?(?: from .{1,40}?)? (?:to|into|back to) "
        r"(?!<nowhere>\b)(?P<value>.{1,80}?)(?P<more> (?:last|this|in|a|two|three|\d+) .{1,30})?",
    ),
    _rule("Places", "home|{of}", "<whose> (?:home )?address(?: is|'s) <rest>"),
    _rule("Places", "origin|{of}", "<i> (?:grew up|was raised) (?:in|on|at|near) <rest>"),
    _rule(
        "Places",
        "origin|{of}",
        r"<i>(?:<am>| comes?)(?: originally)? from (?!<nowhere>|work|home|the\b)"
        r"(?P<value>\w.{1,60})",
    ),
    _rule(
        "Places",
        "place|{of}",
        "(?:my|our) (?P<of>office|school|gym|parents' house|house|flat|apartment|company|workplace"
        r"|studio|shop|cabin)(?: is|'s) (?:located )?(?:in|at|on|near|next to) "
        r"(?!<nowhere>\b)<rest>",
    ),
)
_WORK = (
    _rule(
        "Work",
        "employer|{of}",
        "<i>(?:'ve| have|'s| has) been (?:working|employed|with|teaching|interning) (?:at"
        "|for|in|as) <rest>",
    ),
    _rule(
        "Work",
        "employer|{of}",
        "<i> <adv>(?P<no><not> )?works? (?:for|at) "
        r"(?!(?:this|that|night|the moment|it|me|you|all|them|home)\b)<rest>",
    ),
    _rule(
        "Work",
        None,
        "<i> <adv>works? (?:as|in|from|remotely|part-time|full-time|nights?|shifts?|the night shift"
        r"|freelance)\b(?! (?:this|that|it|you|progress)\b)(?P<value>.{0,100})",
    ),
    _change(
        "Work",
        "employer|user",
        "(?:i|we)<ve> (?:started (?:working|a new job)|got a (?:new )?job|joined|switched jobs"
        r"|changed jobs)(?: (?:at|with|for|to|as) (?P<value>.{1,80})| "
        r"(?P<value2>(?-i:[A-Z]).{1,60}))",
    ),
    _change(
        "Work",
        "employer|user",
        r"i<ve> (?:left|quit|resigned from) (?P<value>(?-i:[A-Z])\w.{0,40})",
        "not {value}",
    ),
    _rule(
        "Work",
        "job|{of}",
        r"<i><am> (?:currently )?(?:an?|the) (?!bit|little|huge|big)(?P<value>"
        r"(?:[\w'/+#&-]+ ){0,4}?"
        r"<job>s?\b)(?P<more>,? (?:at|for|in|with|from|by|who|on|and|of|to|myself).{0,80})?",
    ),
    _rule(
        "People",
        None,
        r"<i><am> (?P<no>not )?(?:really |more of ){0,2}an? (?!bit|little)(?P<value>"
        r"(?:[\w'-]+ ){0,3}?<kind_of_person>)(?: .{1,60})?",
    ),
    _rule(
        "Work",
        None,
        "<i> (?:runs?|owns?|manages?|teach|teaches|study|studies|majors? in|majored in|leads?"
        "|reports? to|founded|co-founded) (?!(?:this|that|it|them|you|into|out|away|late"
        "|low|to|by|your"
        r"|the (?:risk|test|code|command|script|program|house)|an? (?:test|command|script"
        r"|query|bath"
        r"|fever|temperature|lot|few|errand))\b)<rest>",
    ),
    _rule(
        "Work",
        "school|{of}",
        "<i> go(?:es)? to (?P<value>.{2,60}(?:school|university|college|kindergarten"
        "|academy|nursery"
        "|preschool|daycare|elementary|uni).{0,40})",
    ),
    _rule(
        "Work",
        None,
        "<i><am> (?:currently )?(?:studying|learning|majoring in|training (?:for|to be|as)"
        "|preparing for|writing an? (?=novel|book|thesis|blog|paper|dissertation|game"
        "|memoir|musical|screenplay)"
        "|building an?|working on (?:an?|my|our)|teaching myself|self-taught in) "
        r"(?!(?:this|that|how|it|a lot|so|new things|about|more|report|email|bug"
        r"|test|presentation|ticket|task|fix)\b)<rest>",
    ),
    _rule(
        "Work",
        None,
        "<i><am> in (?:the )?(?P<value>marketing|sales|finance|tech|it|hr|law school|med"
        "(?:ical)? school"
        r"|high school|college|grad school|\w+ grade|real estate|retail|hospitality|publishing)"
        "(?: .{1,40})?",
    ),
)
_PEOPLE = (
    Rule(_spelt("<person> (?:passed away|died)(?: .{1,40})?"), "People", is_dated=True),
    _rule(
        "People",
        None,
        "(?:i|we) keep (?P<value>(?:bees|chickens|goats|ducks|pigeons|sheep|rabbits).{0,40})",
    ),
    _rule(
        "People",
        "{kind}|{of}",
        "<person>'s? (?P<kind>(?:[a-z]+ )?<acquaintance>)(?: is|'s)(?: called| named)? "
        "(?P<value><cap>)",
    ),
    _rule(
        "People",
        None,
        "<i><am> (?:the |an )?(?P<value>(?:oldest|youngest|eldest|second|middle|only) ?"
        "(?:child|one)?"
        "(?: of .{2,30})?)",
    ),
    Rule(
        _spelt("(?:<i>)<am> expecting .{0,20}(?:baby|babies|twins|child|girl|boy)(?: .{1,40})?"),
        "People",
        is_dated=True,
    ),
    _rule("People", "height|{of}", r"<i><am> (?P<value>\d'\d{1,2}\"?)(?: tall)?"),
    _rule("People", None, r"<i><am> (?:happily |now )?(?P<value><status>\b(?:,? .{1,60})?)"),
    _rule("People", None, "we(?:'re| are) a (?:family|household) of .{2,40}"),
    _rule("People", None, "there are (?P<value>.{2,20} of us)(?: .{2,40})?"),
    _rule(
        "People",
        "age|{of}",
        "<i><am> (?:turning |about )?(?P<value><number>(?: (?:and a half|years?|yrs?"
        "|months?|weeks?)"
        "(?: old)?)?)",
    ),
    Rule(
        _spelt(
            "<i>(?:'ve| have|'s| has)?(?: just| is| are)? turn(?:s|ed|ing)? <number>(?: .{1,40})?"
        ),
        "People",
        is_dated=True,
    ),
    _rule(
        "People",
        "height|{of}",
        r"<i><am> (?P<value><number> (?:foot|feet|ft)(?: <number>)?)(?: tall)?",
    ),
    _rule("People", "height|{of}", r"<i><am> (?P<value>\d[\d.']{0,4}\"? ?(?:cm|m|feet|ft)?) tall"),
    _rule(
        "Dates",
        "birthday|{of}",
        "<whose> (?:birthday|bday|b-day|birth date|date of birth)(?: is| falls|'s|:) ?<date>",
    ),
    _rule(
        "Dates", "anniversary|{of}", "(?:my|our)(?: wedding)? anniversary(?: is| falls|'s) <date>"
    ),
    _rule("Dates", "birthday|{of}", "<i> (?:was|were) born (?:on|in) <date>"),
    _rule("Places", "origin|{of}", "<i> (?:was|were) born in <rest>"),
    _rule(
        "Dates", None, "<i>(?:'ve| have)? (?:got|were|was|been) married (?:on|in|since|for) <rest>"
    ),
    _person(
        None,
        r"(?:i|we)(?:'ve got| have| got| have got| adopted|'ve adopted) <count> (?P<of>"
        r"(?:[\w-]+ ){0,3}?"
        r"(?:<relative>|<pet>|roommate|housemate|flatmate)s?)\b"
        r"(?:,? (?:called|named|and|aged|who|at|in|of|from|with|last|this|:).{1,80}|[,:] .{1,60}"
        r"| \(.{1,60}\))?",
    ),
    _person(
        None,
        r"<person> (?:lives?|works?|goes to|plays?|speaks?"
        "|drives?|stud(?:y|ies)|teach(?:es)?|uses?|collects?|rides?|sings?|paints?|runs?"
        "|eats?|drinks?"
        "|only eats?|sleeps?|(?:has|have) (?:an?|two|three)|weighs) "
        r"(?!(?:this|that|it|(?:an? )?(?:fever|cold|headache|meeting|question|problem"
        r"|point|doctor|test"
        r"|flight|date|cough|interview|appointment|day|deadline))\b)<rest>",
    ),
    _person(
        None,
        r"<person><is> an? (?P<value>(?:[\w-]+ ){0,3}?(?:<pet>"
        "|boy|girl|mix|terrier|spaniel|bulldog|shepherd|tabby|siamese|ragdoll|persian|shorthair"
        "|chihuahua|schnauzer|maltese)s?)(?: .{1,50})?",
    ),
)
_BELONGINGS = (
    _rule(
        "Tools",
        None,
        r"(?:my|our) (?P<kind>(?:<mine_which> )?<device>) runs "
        r"(?P<value>(?-i:[A-Z]).{1,40})",
    ),
    _rule(
        "Home",
        None,
        r"(?:my|our) (?:house|flat|apartment|home|place|garden|building) (?:has|doesn't have) "
        r"(?!(?:this|that|no power)\b)<rest>",
    ),
    _rule(
        "Belongings",
        "has|{value}",
        "<i> (?P<no><not>|have no|has no)(?: have| own)? (?:an? |any )?(?P<value><owned>"
        "|<pet>s?|kids|children)",
        "yes",
    ),
    _rule(
        "Belongings",
        "drives|{of}",
        r"<i> (?:drives?|rides?) (?P<value>an? .{2,60}|(?-i:[A-Z])\w.{1,40})",
    ),
    _rule(
        "Belongings",
        None,
        r"(?:i|we)(?:'ve got| have| own| got| bought| just bought) <count> (?P<value>"
        r"(?:[\w'&-]+ ){0,4}?"
        r"<owned>)\b(?:,? (?:called|named|in|on|at|from|with|and|that|for|:).{1,80}"
        r"| (?-i:[A-Z0-9])[\w .-]{0,40})?",
    ),
    _rule(
        "Belongings",
        "{kind}|{of}",
        r"(?:my|our|<person>'s?) (?P<kind>(?:<mine_which> ){0,2}<mine>)(?: is| are|:) "
        r"(?!<no_value>\b)<rest>",
    ),
    _rule(
        "Habits",
        "{of}|user",
        "(?:my|our) (?P<of>working hours|work hours|office hours|lunch break|bedtime"
        "|days? off|standup)"
        "(?: is| are) (?P<value>(?:at|on|from|between|around) .{1,60})",
    ),
    _rule(
        "Tools",
        "uses|{value}",
        "<led><we> <adv>(?P<no><not> )?(?:uses?|deploys?(?: .{1,20})? (?:with|on|to|via)"
        "|runs? on|rely on"
        "|host(?: .{2,20})? on|codes?(?: mostly| mainly)? in|(?:write|code)"
        "(?= (?-i:[A-Z]))|program in|build with|develop (?:in|on)"
        r"|write (?:(?:most|all|mostly|mainly|of|my|our|code|everything) ){0,4}in) "
        r"(?!<no_use>\b)(?P<value>.{1,60}?)"
        "(?P<more> (?:for|to|with|on|at|when|because|as|in|every) .{1,80})?",
        "yes",
    ),
    _rule(
        "Tools",
        None,
        "<we><is> (?:written in|built (?:with|on)|hosted (?:on|at)|in(?= [^ ]+$)"
        "|deployed (?:on|to|with)|made with) "
        "<rest>",
    ),
    _change(
        "Tools",
        "uses|{value}",
        "<we><ve> (?:switched|migrated|moved|changed)(?: over)? from "
        "(?P<value>.{1,40}?) to .{1,60}",
        "not yes",
    ),
    _change(
        "Belongings",
        "{kind}|user",
        "(?:i|we)<ve> (?:changed|got a new|updated) (?:my |our )?(?P<kind><mine>)"
        "(?:,? (?:to|it's|it is)) (?P<value>.{2,60})",
    ),
    _change(
        "Tools", "uses|{value}", r"<we><ve> (?:switched|migrated) to (?!<no_use>\b)<rest>", "yes"
    ),
    _rule(
        "Tools",
        None,
        r"i(?:'m| am) (?:an? )?(?:long-time |happy )?(?:(?:mac|linux|windows|vim|emacs"
        r"|neovim|android"
        r"|iphone) user|on (?:mac(?:os)?|linux|windows|ubuntu|arch|fedora|debian|android"
        r"|ios)\b.{0,30})",
    ),
    _rule(
        "Languages",
        None,
        r"<i> <adv>(?P<no><not> )?speaks? (?!(?:to|with|for|up|about|at|too)\b)<rest>",
    ),
    _rule("Languages", None, "<i><am> (?:fluent|conversational) in <rest>"),
    _rule(
        "Habits",
        None,
        r"<i> (?:plays?|collects?|practi[sc]es?) (?P<value>(?:the )?(?:[\w-]+ ){0,2}(?:piano|guitar"
        "|violin|cello|drums|bass|flute|saxophone|ukulele|tennis|football|soccer"
        "|basketball|badminton"
        r"|chess|golf|volleyball|stamps|coins|vinyl|records|yoga|judo|karate|tai chi|hockey|cricket"
        r"|rugby)\b.{0,60})",
    ),
)
_HABITS = (
    _rule(
        "Habits",
        "{routine}|{of}",
        "<led><i> <adv>(?P<routine>wakes? up|gets? up|goe?s? to (?:bed|sleep)|starts? work"
        "|finish(?:es)? work"
        "|leaves? (?:for work|work|home)|(?:have|has|eats?) (?:breakfast|lunch|dinner)|gets? home)"
        r"(?P<value>.{0,20} (?:at|around|by|before|after|about|between|early|late)\b.{0,60})",
    ),
    _rule(
        "Home",
        "schedule|{of}",
        r"(?:the |our |my )?(?P<of>(?:[\w'-]+ )?<bins>(?: day| collection| pickup)?) "
        r"(?:<happens>|is|are)"
        r"(?P<value>.{0,30}\b<day>s?\b.{0,40})",
    ),
    _rule(
        "Habits",
        None,
        "<i> (?:do|does|practi[sc]es?) (?P<value>(?:yoga|pilates|crossfit"
        "|intermittent fasting|tai chi"
        "|martial arts|meditation|keto|karate|ballet|gymnastics)(?: .{1,60})?)",
    ),
    _rule(
        "Habits",
        None,
        "<i><am> <often> (?P<value>(?:in bed|up|home|awake|asleep|at .{2,20}?|out|back|busy|free) "
        "(?:at|by|until|before|after|from|around) .{1,40})",
    ),
    _rule(
        "Habits",
        None,
        r"<person> and i (?:share|both|live|run|go|have|eat|cook|take|watch)\b <rest>",
    ),
    _rule(
        "Habits",
        "{verb}|{value}|{of}",
        r"<i> <adv>(?P<verb>drink|eat)s? (?!<no_object>\b)(?:a (?:cup|glass|bowl) of |an? )?"
        r"(?P<value>\w.{1,40}?) (?:<every>|(?:at|in the|after|before|with|for|when) ).{0,60}",
        "yes",
    ),
    _rule(
        "Habits",
        None,
        r"(?!.*\b(?:this|that)\b)<led><i> <adv><often> (?!<no_habit>\b)"
        r"(?P<value>\w.{2,120})",
    ),
    _rule(
        "Habits",
        None,
        r"(?!.*\b(?:this|that)\b)"
        "(?:(?:on )?<every>|most (?:mornings|days|nights|evenings|weekends)"
        "|on the weekends?),? .{0,30}?"
        r"<i> (?!<no_habit>\b)(?P<value>\w.{2,120})",
    ),
    _rule("Habits", None, r"<i> (?!<no_habit>\b)(?P<value>[a-z]\w* .{0,80}<every>.{0,60})"),
    _rule(
        "Habits",
        "schedule|{kind}",
        r"(?P<kind>(?:the|our|my) (?:[\w'-]+ ){0,4}?<happens>)\b(?P<value>.{0,60}<every>.{0,60})",
    ),
    _rule(
        "Habits",
        "schedule|{of}",
        "(?:the |our |my )?(?P<of>kids|children|school|office|shop|store|gym|library"
        "|pharmacy|bakery"
        "|clinic|cafe|company|boys|girls) (?:starts?|finish(?:es)?|opens?|closes?|ends?"
        "|is (?:open|closed)"
        "|are (?:open|closed))(?P<value> .{0,30}(?:at|on|from|until|till|before|after) .{1,50})",
    ),
    _rule(
        "Home",
        "schedule|{of}",
        "(?P<of>(?:the |our |my )?(?:rent|mortgage|payday|date night|game night"
        "|family dinner|movie night"
        r"|cleaning day)) (?:is|are|falls)(?P<value>.{0,40}(?:\b<day>s?\b|\d{1,2}(?:st|nd"
        r"|rd|th)|<every>)"
        ".{0,40})",
    ),
)

ENGLISH = Grammar(
    rules=(
        *(*_NAMES, *_THINGS, *_HEALTH, *_PREFERENCES, *_PLACES, *_WORK),
        *(*_PEOPLE, *_BELONGINGS, *_HABITS),
    ),
    person=_compile(
        r"(?:\b(?:my|our|the(?= (?:dog|cat|kids|baby|twins)\b)) |^(?=(?:mum|mom|dad"
        r"|grandma|grandpa|hubby)\b))"
        r"(?P<of><rel>)\b(?! tongue)"
        r"(?:,? (?P<who><cap>)(?:,(?= ))?(?='| ))?"
    ),
    gap=_compile(
        r":\s+(?=the )|(?:[,;:]| -+ | [–—] ?|—| \()\s*(?:(?:and|but|so|because|since|plus"
        r"|though|although|then|also"
        r"|cause|cuz) )*(?=(?:i|im|i'[mvdl]+e?|my|we|we'[rv]e|our|he|he's|she|she's|they"
        r"|they're|it|it's"
        r"|its|his|her|their|you|your|what|what's|whats|how|how's|can|could|would|will|is"
        r"|are|am|do|does"
        r"|did|should|which|where|who|why|any|please|right|correct|remember|ok|okay|isn't"
        r"|don't|turn|set"
        r"|make|give|find|suggest|recommend|show|tell|let's|actually|by the way|btw|no|yes"
        r"|thanks|thank"
        r"|if|call|when (?:is|are|do|does|should|can|will)|fyi|just so|huh|eh|ya|the kids"
        r"|got|help|need"
        r"|write|draft|plan|book|order|remind|add|play|also|usually|nice|pleased|great|happy)\b)"
        r"|\s+(?:and|but|so|because|cause|cuz|though) (?:also )?(?=(?:i|im|i'[mvdl]+e?|my"
        r"|we|we're|our|he|"
        r"he's|she|she's|they|they're|it's|his|her|what|how|can|could|is there|do you"
        r"|please|which|where"
        r"|you|turn|set|make|call me|no|nothing|avoid|keep|skip|don't (?:suggest|recommend"
        r"|show|send|give|forget))\b)"
        r"|\s+and (?=(?:live in|works? (?:at|for|as|in)|likes?|loves?|hates?|prefers?"
        r"|drives? a|speaks?"
        r"|am|is allergic|don't (?:eat|drink|like)|can't (?:eat|stand)|ha(?:ve|s) (?:a|two"
        r"|three|\d)|use)"
        r"\b)"
    ),
    ended=_compile(
        r".{1,80}(?:n't|\bnot\b).{1,40}, ?(?:it's|it is|he's|she's|they're|but) .{1,80}"
        r"|.{1,40}\b(?:changed|new)\b.{1,40}, ?(?:it's|it is|to) .{1,60}"
    ),
    lead=_compile(
        r"(?:at|in|on|for|during|before|after|when|whenever|while|most|every|each|as) "
        r"(?!.*\b(?:is|are|my name)\b)[^,]{1,70}|(?:my|our) <rel>(?: <cap>)?"
    ),
    filler=_compile(
        r"(?:(?:by the way|btw|fyi|just so you know|so you know|so|well|oh|ok|okay|(?:hey"
        r"|hi|hello)(?: there| everyone| all| guys)?|yes|yeah"
        r"|yep|no|nope|nah|also|and|but|actually|anyway|for the record"
        r"|for your information|as you know"
        r"|note that|please note(?: that)?|just to let you know|i should (?:mention|add)"
        r"(?: that)?|sorry"
        r"|you should know(?: that)?|for context|quick note|one more thing|honestly"
        r"|to be honest|tbh"
        r"|personally|in fact|correction|wait|i forgot to (?:say|mention)(?: that)?|hmm|ah"
        r"|um|uh|oops"
        r"|update|small update|good morning|good evening|morning|good news|just fyi"
        r"|in general|to clarify"
        r"|since|because|now|these days|i mean|as i said|like i said|as mentioned"
        r"|the thing is|ps|p\.s\."
        r"|nowadays|let me introduce myself|don't forget(?: that)?|keep in mind(?: that)?"
        r"|just a heads up"
        r"|heads up|important|about me|unfortunately|luckily|turns out|it turns out"
        r"|i'd like you to know"
        r"(?: that)?|i want you to know(?: that)?|lol|haha|fwiw|(?:just )?(?:letting"
        r"|wanted to let) you know(?: that)?|before i forget|imo"
        r"|reminder|context|one thing|quick one|side note|edit)\b[\s,:.-]*)+"
    ),
    particle=_compile(
        r"(?:\b(?:btw|by the way|fyi|lol|haha|though|tbh|to be honest|thanks|thank you|you know"
        r"|as you know|please|just so you know|just fyi|ok|okay)\b|[:;]-?[()DP]|[\s,;:.!~()-]"
        r"|[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u200d])++$"
    ),
    never=_compile(
        r"\?|\b(?:would|could|might|maybe|perhaps|wish|i think|i guess|i bet|probably"
        r"|not sure|don't know"
        r"|dont know|don't think|doubt|kidding|joking|supposedly|apparently|as if|so that|seems?"
        r"|password|passcode|pin code|pin is|your|you(?!r)(?! (?:can|may) call)|passwd"
        r"|should|i'll|i will|gonna|going to|ought)\b"
    ),
    stop=_compile(
        r"\b(?:if|unless|imagine|suppose|pretend|assuming|assume|hypothetically|said|says"
        r"|told|asked|wrote"
        r"|replied|quote|as an example|for example,|let's say|heard|thinks|claims"
        r"|according to|lyrics"
        r"|example sentence|dreamed|dreamt|in the (?:movie|book|story|game|song|novel|film))\b"
    ),
    passing=_compile(
        r"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|for now|just now"
        r"|this (?:morning"
        r"|afternoon|evening|week|weekend|time|month|year|one)|last (?:night|week|month"
        r"|year|weekend|time)"
        r"|next (?:week|month|year|time)|ago|in (?:a|an|\d+) (?:minutes?|hours?|bit"
        r"|moment)|soon|again"
        r"|until (?:further|then)|temporarily|the weekend|on the way|so far|already|lately)\b"
    ),
    tag=_compile(
        r"(?:right|correct|remember|isn't it|isn't he|isn't she|don't i|do i|am i|aren't i"
        r"|yes|no|huh|eh"
        r"|is that right|is it|isn't that right|or (?:not|no|something|what)|true|you know"
        r"|did you know)"
    ),
    change=_compile(
        r"\b(?:actually|no longer|any ?more|instead|from now on|now|these days|nowadays|correction"
        r"|changed|renamed|not any|i meant|i was wrong|update|sorry|wait|no,|nope|in fact)\b"
        r"|<be_no>,? (?:and )?not \w.{0,40}$|^no(?:pe)?$|\bnot .{1,40}? but\b"
        r"|n't .{1,40}, (?:it's|it is|he's|she's) "
    ),
    subject=_compile("(?:i|we|(?:my|our) <rel>(?: <cap>)?)(?='| )"),
    bare=_compile(
        r"(?:live in|works? (?:at|for|as|in)|likes?|loves?|hates?|prefers?|drives? a"
        r"|speaks?|am|is allergic"
        r"|don't (?:eat|drink|like)|can't (?:eat|stand)|ha(?:ve|s) (?:a|two|three|\d)|use"
        r"|usually)\b"
    ),
    pronoun=_compile(r"(?:he|she|they|it)(?='s |'re | )|(?:his|her|its|their)(?= )"),
    tidy=(
        (
            _compile(
                r"\b(?:is not|isn't|'s not|am not|'m not|are not|aren't) .{1,40}?,? (?:but |it's "
                r"|it is |he's |she's )"
            ),
            "is ",
        ),
        (_compile(r"<be_no>(?:,| -+)? (?:and )?not (?:the |an? |as |in |at )?[\w'. -]{1,30}$"), ""),
        (_compile(r",? (?:instead of|rather than) .{1,40}$"), ""),
        (_compile(r",? ?\b(?:now|any ?more|these days|nowadays|instead|actually|currently)$"), ""),
        (_compile(r"^(?:now|actually|these days|currently),? "), ""),
        (_compile(r"(?<!from) (?:now|actually)(?= )"), ""),
        (_compile(r"^im\b"), "i'm"),
        (_compile(r" {2,}"), " "),
    ),
    told=(
        (_compile(r"^(?:the )?user(?:'s|s')(?= )"), "my"),
        (_compile(r"^(?:the )?user (?:is|has been)\b"), "i am"),
        (_compile(r"^(?:the )?user\b"), "i"),
        (
            _compile(
                r"^(?=(?:likes?|loves?|hates?|prefers?|lives?|works?|drives?|speaks?|uses?|has|is"
                r"|has|enjoys?|wakes?|goes|usually|always|never|doesn't|dislikes?|moved|avoids?"
                r"|plays|takes|can't)\b)"
            ),
            "i ",
        ),
        (_compile(r"^(?:full )?name is "), "my name is "),
        (_compile(r"^(?=(?:favou?rite|birthday|<rel>|<mine>)(?:'s| is|:) )"), "my "),
    ),
    same_words={
        "wakes up": "wake up",
        "get up": "wake up",
        "gets up": "wake up",
        "goes to bed": "go to bed",
        "go to sleep": "go to bed",
        "goes to sleep": "go to bed",
        "color": "colour",
        "mum": "mother",
        "mom": "mother",
        "dad": "father",
        "puppy": "dog",
        "pup": "dog",
        "kitten": "cat",
        "kitty": "cat",
        "ide": "editor",
        "main editor": "editor",
        "e-mail": "email",
        "email address": "email",
        "favorite": "favourite",
        "wi-fi": "wifi",
    },
    my="my ",
)
