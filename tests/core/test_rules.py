"""What is worth keeping in what people say to an assistant, in English, in Chinese and in both."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.strategies import texts, thorough
from turnleaf.core.rules import attribute_of, claims_of, facts_in
from turnleaf.core.terms import simplify

ENGLISH_FACTS = r"""
    you can call me Liz
    everyone calls me Mo
    My kids are Leo and Mia
    My younger brother lives in Berlin
    I call the robot vacuum Dusty
    Ming is the living room lamp
    i really love thai food
    my favourite colour is green
    I always want the hallway light off at night
    I don't eat pork
    I wake up at 6:30 on weekdays
    I usually have lunch at noon
    I live in Taipei
    I'm a software developer from Poland
    my car is a 2015 Mazda 3
    my mom's birthday is 5 June
    I use Neovim for everything
    I speak Spanish and a bit of Portuguese
    the cleaner comes every Thursday at 10
    We renamed the bedroom lamp to Stella
    I don't work at Acme anymore, I work at Globex now
    I have two sons
    I'm a night owl
    I grew up in Ohio
    From now on, keep answers short
    I've been a vegetarian for ten years
    I'm a big fan of Studio Ghibli
    We have dinner at 7 every evening
    I'm colour blind so red/green charts are hard for me
    I drink my tea without sugar
    I'm scared of spiders
    my team uses Slack and Notion
    the guest room is what we call "the cave"
    our street's recycling gets picked up every other friday
    My work laptop is a ThinkPad X1
    My dad has type 2 diabetes
    I can't have dairy
    we're vegetarians
    I own a bakery in Lyon
    I'm usually in bed by 10:30
    I always take the 7:42 train
    i love hiking and board games
    I'm studying architecture at TU Delft
    My kids' names are Ana and Bo
    The plant in the hallway is called Fernando
    I live on the 4th floor without a lift
    we keep the house at 19 at night
    My wife and I share a Google calendar
    My dog Rex hates thunder
    the spare key is under the flowerpot
    We usually order from the Thai place on Fridays
    I can't eat spicy stuff
    My work hours are 9 to 6
    My daughter Mia is in second grade
    I always sleep with the window open
    I'm more of a tea person
    Dark mode is what I prefer
    let's call the balcony light Luna
    I was born in 1988
    my timezone is GMT+8
    Our codebase is in TypeScript
    I'm working on a novel about bees
    I've got a motorbike licence
    I gave up alcohol
    My sister just had a baby named Noa
    I like it when the lights are warm in the evening
    please call me Alex instead of Alexander
    My nephew Sam loves dinosaurs
    The school bus comes at 7:20
    I have lunch at 12:30
    I wear glasses
    I really dislike phone calls, email works better for me
    My team's standup is at 9:15 every day
    My daughter's school is St Mary's
    I don't like surprises
    I study German on Duolingo every evening
    I only eat halal
    I love rainy days
    we celebrate Christmas with my parents every year
    I no longer have a car
    I write Python for a living
    """
ENGLISH_FACTS_AMONG_OTHER_WORDS = r"""
    Hi, I'm Sarah and I work at a bakery -> I'm Sarah // I work at a bakery
    hey my name is jonathan but call me jon -> my name is jonathan // call me jon
    I have a dog. His name is Rex. -> I have a dog // my dog's name is Rex
    the light by the sofa is called Sunny btw -> the light by the sofa is called Sunny
    My favorite band is Radiohead, any similar ones? -> My favorite band is Radiohead
    im vegetarian so no meat please -> im vegetarian
    Actually, my name is Jon, not John -> my name is Jon, not John
    I'm vegan. What should I cook tonight? -> I'm vegan
    Can you turn on the lamp? By the way, I'm left-handed. -> I'm left-handed
    I avoid gluten because I'm celiac -> I avoid gluten // I'm celiac
    Hey, just so you know, my parents live in Lisbon -> my parents live in Lisbon
    oh and before i forget, my sister in law is called Priya -> my sister in law is called Priya
    I'm Dave, I just started using this thing -> I'm Dave
    hi! im maria, im a phd student in barcelona -> im a phd student in barcelona
    fwiw I take my coffee with oat milk -> I take my coffee with oat milk
    No wait, my brother lives in Oslo, not Stockholm -> my brother lives in Oslo, not Stockholm
    you should know that I'm deaf in my left ear -> I'm deaf in my left ear
    I need subtitles on because I'm hard of hearing -> I'm hard of hearing
    i'm gluten free, can you suggest a bread recipe? -> i'm gluten free
    I'm a teacher. My students call me Miss K. -> I'm a teacher // My students call me Miss K
    Just FYI I'm left handed -> I'm left handed
    I have ADHD so please keep things short -> I have ADHD
    my hubby is lactose intolerant fyi -> my hubby is lactose intolerant
    I've got celiac disease, which pasta can I buy? -> I've got celiac disease
    I'm Taiwanese but I live in Vancouver -> I'm Taiwanese // I live in Vancouver
    My back is bad so I use a standing desk -> My back is bad // I use a standing desk
    We got a new puppy, her name is Nori -> We got a new puppy // my new puppy's name is Nori
    """
ENGLISH_NO_FACTS = r"""
    turn on the living room lamp
    If I were vegan, what would I eat?
    Translate "my name is Anna and I live in Paris" into French
    I love it!
    thanks, that's great
    I went to the shop yesterday
    I have a question
    I'm at work
    call me later
    remind me to call mum every Monday
    I would like to live in Japan
    I prefer the second one
    I hate it when this happens
    I'm working on this bug
    My name is hard to pronounce
    it is called Ming
    I need a new laptop
    I think I like jazz
    I will move to Paris next year
    I'm done
    I don't like the new design
    my car is broken
    I have a cold
    I'm running late
    I like it warm in here today
    I work with what I have
    I prefer that you stop
    I'm thinking about getting a dog
    I use my phone too much lol
    I love the idea of moving to Spain
    The lights are too bright
    I have a dentist appointment on Thursday
    I can't sleep
    explain what "I am a vegetarian" means
    As a user, I want to log in so that I can see my orders
    good night
    my app is crashing
    my cat is on the table
    I'm from the future lol
    Make it warmer
    There's a restaurant called Luigi's
    I hate you
    we're out of milk
    I switched to the other tab
    I'm a genius haha
    The user prefers coffee
    My name is on the list, right?
    I'm feeling great today
    My package is arriving tomorrow
    Play my favourite song
    I'm making dinner
    I love that movie
    I just got home
    I need help with my homework
    I saw a dog named Rex
    I have a flight at 6
    I don't like it
    your name is Jarvis from now on?
    Here's the email: Hi, I'm Jane. I live in Leeds.
    I use it
    I'm a member of the club?
    I used to live in Rome
    my dog is barking
    my favourite is the second one
    thanks I love it
    I'm new here
    I'm waiting for the bus
    my sister is calling me
    switch off everything except the kitchen
    I have a lot of work
    we have a problem
    I like coffee, said no one ever
    When is my wife's birthday?
    Should I call the lamp Ming?
    An apple a day keeps the doctor away
    I can't find my keys
    I always mess this up
    I need to wake up at 6 tomorrow
    my internet provider is down
    I prefer it now
    """
CHINESE_FACTS = r"""
    我的名字是王大明
    我老婆叫美玲
    我養了一隻貓，叫咪咪
    我主管是 Kevin
    當我說「電影時間」，就是要把客廳的燈調暗
    我比較喜歡安靜的咖啡廳
    我不吃牛肉
    我睡覺的時候冷氣喜歡開26度
    我有氣喘
    我先生有高血壓
    我通常十一點睡覺
    每週三晚上我要上瑜珈課
    我老家在屏東
    我在國小當老師
    我開一台 Toyota Altis
    我的生日是三月十四號
    我用 Neovim 寫程式
    我最近在學韓文
    垃圾車星期二來
    我女兒不是叫小安，是叫小恩
    客廳的燈改叫小華
    我屬龍
    我怕冷
    以後叫我老王
    我戒酒了
    我家有三個人
    我弟在美國唸書
    我都用 Notion 記筆記
    我女儿叫小雨
    我是處女座
    我家住五樓沒有電梯
    我都睡到九點才起床
    我的興趣是登山
    房東姓林
    每個月5號發薪水
    我平常騎機車上下班
    我改用 Mac 了
    我太太懷孕六個月了
    同事都叫我 Jason 哥
    我只喝無糖綠茶
    我的車牌是 ABC-1234
    我聽得懂台語但不太會講
    我穿26號鞋
    我說「我回來了」就是要開玄關燈
    我們專案用 PostgreSQL
    我比較習慣用公制
    鬧鐘我都設六點半
    主臥的燈以後就叫月亮
    我有在健身
    備用鑰匙放在鞋櫃裡
    我都在全聯買菜
    我在輝達上班三年了
    我六點下班
    我家貓有糖尿病
    我睡覺一定要開小夜燈
    我聽音樂只聽爵士
    我媽都叫我寶貝
    我們結婚紀念日在2月14
    我們的程式都放在 GitHub 上
    我在寫一本關於蜜蜂的小說
    我手機用 iPhone
    我最好的朋友是佳佳
    我睡覺時冷氣要開26度
    我姪子很喜歡恐龍
    垃圾車禮拜二跟禮拜五會來
    假日我都睡到十點
    我有兩個女兒，大的叫小晴，小的叫小雨
    爸爸最近開始洗腎
    我們公司禮拜五可以在家上班
    我禮拜二跟禮拜四早上會去游泳
    我女兒讀靜心小學
    我的筆電是跑 Ubuntu
    我們家三房兩廳
    我超怕蟑螂
    我們每年過年都回台南
    我血型 O 型
    我們剛養了一隻小狗，叫海苔
    我把書房叫做「洞穴」
    我吃飯一定要配湯
    我同事阿傑也吃素
    我換工作了，現在在台達電
    我最近迷上手沖咖啡
    """
CHINESE_FACTS_AMONG_OTHER_WORDS = r"""
    我叫陳怡君，大家都叫我小君 -> 我叫陳怡君 // 大家都叫我小君
    我女兒叫小安，今年五歲 -> 我女兒叫小安 // 我女兒今年五歲
    臥室的冷氣叫小冰喔 -> 臥室的冷氣叫小冰
    我不吃辣，晚餐可以煮什麼？ -> 我不吃辣
    我超愛吃芒果的啦 -> 我超愛吃芒果的
    我最喜歡的歌手是周杰倫，可以推薦類似的嗎？ -> 我最喜歡的歌手是周杰倫
    我家在新竹，我在台積電上班 -> 我家在新竹 // 我在台積電上班
    其實我叫小美，不是小梅 -> 我叫小美，不是小梅
    更正：我的生日是五月五號 -> 我的生日是五月五號
    我太太叫小玲，她在醫院上班 -> 我太太叫小玲 // 我太太小玲在醫院上班
    順便一提，我是素食者 -> 我是素食者
    我叫 Amy，在 Google 工作 -> 我叫 Amy // 我在 Google 工作
    对了，我叫李雷，住在北京 -> 我叫李雷 // 我住在北京
    跟你說喔，我家那隻柴犬叫麻糬 -> 我家那隻柴犬叫麻糬
    老婆不吃海鮮，幫我想想晚餐 -> 老婆不吃海鮮
    我人在台北工作，老家是嘉義 -> 我人在台北工作 // 我老家是嘉義
    我媽住在淡水，她膝蓋不好 -> 我媽住在淡水 // 我媽膝蓋不好
    我比較怕熱，冷氣都開24度 -> 我比較怕熱 // 冷氣都開24度
    我是做前端的，平常寫 React -> 我是做前端的 // 我平常寫 React
    我爸有糖尿病，要控制飲食 -> 我爸有糖尿病
    我已經離職了，現在在家接案 -> 我已經離職了
    其實我不是台北人，我是新北人 -> 我是新北人
    請叫我怡君就好，謝謝 -> 請叫我怡君就好
    我對海鮮過敏啦，所以不能吃蝦 -> 我對海鮮過敏 // 我不能吃蝦
    我家有一隻老貓，十五歲了 -> 我家有一隻老貓 // 我老貓十五歲了
    我兒子叫小樂，四歲 -> 我兒子叫小樂 // 我兒子小樂四歲
    我姓張，弓長張 -> 我姓張
    我是阿德，住高雄 -> 我是阿德 // 我住高雄
    我室友叫 Kevin 他很怕吵 -> 我室友叫 Kevin // 我室友Kevin很怕吵
    我阿嬤今年八十歲，住在雲林 -> 我阿嬤今年八十歲 // 我阿嬤住在雲林
    我先生是消防員，常常值夜班 -> 我先生是消防員 // 我先生常常值夜班
    不要再叫我小胖了，叫我阿哲 -> 叫我阿哲
    我膝蓋受過傷，不能跑步 -> 我膝蓋受過傷
    我上班用 Mac，在家用 Linux -> 我上班用 Mac
    我不叫阿明了，我改名叫阿哲 -> 我改名叫阿哲
    我換電話了，新的號碼是 0912-345-678 -> 新的號碼是 0912-345-678
    不要叫我小姐，叫我林太太 -> 叫我林太太
    我對盤尼西林過敏喔 -> 我對盤尼西林過敏
    欸對了我是左撇子 -> 我是左撇子
    我老婆是護理師，輪三班 -> 我老婆是護理師 // 我老婆輪三班
    我對芒果過敏，所以甜點不要有芒果 -> 我對芒果過敏
    可以幫我找餐廳嗎？我跟我女友都吃素 -> 我跟我女友都吃素
    你好，我是新竹的林小姐 -> 我是新竹的林小姐
    我住在信義區，附近有什麼好吃的？ -> 我住在信義區
    今天好冷喔，我怕冷，幫我把暖氣打開 -> 我怕冷
    我不喜歡太甜的東西耶 -> 我不喜歡太甜的東西
    我是阿Ben，做室內設計的 -> 我是阿Ben // 我做室內設計的
    我不太喜歡講電話，傳訊息比較好 -> 我不太喜歡講電話
    我住在永和的老公寓，四樓沒電梯 -> 我住在永和的老公寓
    我腰不好，都用升降桌 -> 我腰不好 // 我都用升降桌
    我退休了，以前是機師 -> 我退休了
    我上大夜班，中午以前不要吵我 -> 我上大夜班
    我妹嫁到日本，住大阪 -> 我妹住大阪
    我先生姓黃，在銀行上班 -> 我先生姓黃 // 我先生在銀行上班
    我不是小麗，我是小莉 -> 我是小莉
    我其實比較喜歡茶，不是咖啡 -> 我其實比較喜歡茶
    """
CHINESE_NO_FACTS = r"""
    開燈
    你知道我住哪裡嗎
    翻譯「我喜歡咖啡」
    我要回家了
    我喜歡這個
    媽媽叫我去買菜
    我在吃飯
    我今天很開心
    我有點累
    我家的網路壞了
    那是我的
    他問我：「你住哪裡？」我說我住台北。
    我想學日文
    我開玩笑的，我叫超人
    晚安
    媽媽今天生日
    我叫了外送
    我用了你的方法
    我今天住飯店
    我在等公車
    我愛死你了
    請幫我把小明打開
    那個人叫我過去
    我是說真的
    我每次都忘記
    晚上十點關燈
    老闆叫我去開會
    我狗狗生病了
    我們公司今天停電
    我住的地方好吵
    我在學你說話
    「我是學生」用日文怎麼說
    電影裡他說我住在紐約
    我生日快到了
    我晚上要加班
    我吃不下了
    我會試試看
    我喜歡！
    我想住台北
    我以前住高雄
    我在上班
    我到家了
    我睡不著
    我的手機壞了
    我女兒今天考試
    我有會要開
    叫小明起床
    放一首我喜歡的歌
    她叫小美
    我看了一部電影叫沙丘
    假設我在 Google 上班，薪水多少？
    這句話對嗎：我喜歡吃蘋果
    我也喜歡
    我是要開客廳的燈
    我開車去
    我用手機看
    我改天再說
    我習慣了
    我說中文
    老闆在叫我
    垃圾車來了
    生日禮物要送什麼
    我在等外送
    把叫小明的燈打開
    我工作好多
    我泡了咖啡
    跟我說說我的狗
    幫我看這封求職信：我是護理師，有十年經驗，住在台中。
    我不記得了
    打掃阿姨來了
    我在用你們的 app
    我有買牛奶
    我是今天生日
    我最近在忙一個案子
    我住院三天
    我女兒長大了
    我養的魚死了
    我都做完了
    我每天都有吃藥嗎
    不吃了
    """
MIXED_FACTS = r"""
    我平常用 Neovim 寫 code
    我的 MacBook 叫 Momo
    我 prefer dark mode
    我老公 allergic to 蝦子
    我 husband 對花生過敏
    我 girlfriend 叫 Vivian
    My wife 叫美玲
    I live in 板橋
    I'm working at 台達電
    My wife is allergic to 花生
    I love 珍珠奶茶
    我是 vegetarian
    我是 software engineer
    我妹在 Amazon 當 data scientist
    我們 team 都用 Jira 開單
    我 lactose intolerant
    我有 peanut allergy
    我每個 Monday 都要 stand-up
    我的 laptop 是 ThinkPad X1
    你可以 call me Ben
    Please call me 阿明
    我家 living room 的燈叫 Sunny
    臥室的 AC 我習慣開 26 度
    we call the living room lamp 小明
    我 hate 香菜
    我的 favorite color 是藍色
    My favorite night market is 寧夏夜市
    我是 Taylor Swift 的 fan
    我寫 Python 寫了十年
    我 switch 到 Zed 了
    我養了一隻 Corgi，叫 Butter
    我的生日是 March 14
    我 daughter 的生日是 5/20
    以後 code comment 都用英文
    我 base 在新竹
    I'm from 高雄
    I was born in 台北
    I'm a nurse at 台大醫院
    I take the 高鐵 to 台中 every Friday
    My cat's name is 咪咪
    我跟我 wife 都吃素
    我 usually 十一點睡
    我同事 Allen 是 vegan
    我是 INTJ
    我是 cat person
    我 coding 的時候喜歡聽 lo-fi
    我女友是 Japanese
    我會講 English 跟一點 Japanese
    我坐飛機 prefer aisle seat
    我兩個 kids 叫 Leo 跟 Mia
    I live with 我爸媽
    我用的是Mac
    我prefer淺色主題
    """
MIXED_FACTS_AMONG_OTHER_WORDS = r"""
    actually 我住新店 -> 我住新店
    btw 我對 penicillin 過敏 haha -> 我對 penicillin 過敏
    我是左撇子 so 滑鼠放左邊 -> 我是左撇子
    我住台北 but 在桃園上班 -> 我住台北 // 我在桃園上班
    Hi I'm Jenny，我是 UX designer -> I'm Jenny // 我是 UX designer
    我血型是 O 型，my birthday is 5/3 -> 我血型是 O 型 // my birthday is 5/3
    我 wife 叫 Joyce，她 allergic to 花生 -> 我 wife 叫 Joyce // 我wife Joyce allergic to 花生
    My wife is Anna，她不吃牛肉 -> My wife is Anna // my wife Anna不吃牛肉
    我 dog 叫 Lucky，是一隻 golden retriever -> 我 dog 叫 Lucky // 我 dog 是一隻 golden retriever
    我 son 叫小安，he is allergic to 花生 -> 我 son 叫小安 // 我son小安 is allergic to 花生
    I'm Kevin，在台北做 backend -> I'm Kevin // I 在台北做 backend
    我是 night owl，都兩點才睡 -> 我是 night owl // 我都兩點才睡
    """
MIXED_NO_FACTS = r"""
    幫我 review 這段 code
    我今天 WFH
    我的 laptop 壞了
    我 love it
    我 love 你的 suggestion
    我 prefer the second one
    I prefer 第一個
    我 maybe 會去 Tokyo
    if 我是 vegan 可以吃什麼
    我 want to 學 Rust
    我 wish 我住海邊
    我 think 我喜歡 jazz
    My wife 喜歡什麼
    我 boss 叫我去開會
    我老闆 call me 去他辦公室
    我的 PM 叫 Kevin 改 spec
    我叫 IT 來修
    叫我 email 給他
    我的 code 有 bug
    我有三個 meeting
    我 used to 住台中
    我 friend 說他住 Tokyo
    She said 我住台北
    她 allergic to 花生
    There is a 餐廳叫 Momo
    My 電腦 is broken
    My 老闆 is angry
    My mom is in 台北 this week
    我用 ChatGPT 問過了
    我用 Chrome 打不開
    我用 npm install 卡住
    我剛 switch 到另一個 branch
    我 switch 到 dev branch 了
    我 next week 要去 Japan
    我在寫 unit test
    我老闆是 nice guy
    我是 serious 的
    I'm in 台北 today
    I would love 珍珠奶茶
    I'm eating 滷肉飯
    I'm 準備出門
    I have 三個 meeting
    I use 這個 app
    The word 喜歡 means like
    How do you say 我愛你 in Japanese
    提醒我 every Monday 開會
    turn on 小明
    我 forgot 我的 password
    """
PASTED = (
    "```\nmy name is Bob\n```",
    "```\nI live in Rome",
    "> I live in Boston\n> I work at Acme",
    "Alice: I like coffee\nBob: I live in Rome",
    "老師：我喜歡數學\n學生：我叫小明",
    "2026-01-01 10:00:00 my name is server",
    "here's the email:\nI'm Jane. I live in Leeds.",
    "Translate this to French:\n\nI like coffee. My name is Ann.",
    "My name is Ann. I live in Oslo.\n\nSummarize the text above",
    "我叫小明，我住在台北。\n\n把上面翻成英文",
    "以下是客服對話：\n客服：您好\n客人：我叫陳大文，我住在台北",
    "他說：「你好，我叫小明，我住在台北。我喜歡貓。」",
    'She wrote "hello. I live in Paris. I am a nurse."',
    "「你好，\n我叫小明。\n我住台北。」",
)


def lines(block: str) -> list[str]:
    return [line.strip() for line in block.splitlines() if line.strip()]


def contents(message: str) -> list[str]:
    return [fact.content for fact in facts_in(message)]


def attributes(message: str) -> list[str | None]:
    return [fact.attribute for fact in facts_in(message)]


@pytest.mark.parametrize("message", lines(ENGLISH_FACTS + CHINESE_FACTS + MIXED_FACTS))
def test_a_statement_about_oneself_is_a_fact(message: str) -> None:
    assert contents(message) == [message]


@pytest.mark.parametrize(
    "example",
    lines(
        ENGLISH_FACTS_AMONG_OTHER_WORDS
        + CHINESE_FACTS_AMONG_OTHER_WORDS
        + MIXED_FACTS_AMONG_OTHER_WORDS
    ),
)
def test_facts_are_taken_out_of_what_stands_around_them(example: str) -> None:
    message, expected = example.split(" -> ")
    assert contents(message) == expected.split(" // ")


@pytest.mark.parametrize("message", lines(ENGLISH_NO_FACTS + CHINESE_NO_FACTS + MIXED_NO_FACTS))
def test_nothing_is_kept_of_what_does_not_last(message: str) -> None:
    assert contents(message) == []


@pytest.mark.parametrize("message", PASTED)
def test_nothing_is_kept_of_what_the_user_did_not_say(message: str) -> None:
    assert contents(message) == []


@pytest.mark.parametrize("message", lines(CHINESE_FACTS))
def test_simplified_chinese_says_the_same(message: str) -> None:
    (traditional,), (simplified,) = facts_in(message), facts_in(simplify(message))
    assert simplified.content == simplify(message)
    assert simplified.attribute == traditional.attribute


def test_nothing_is_read_in_japanese_and_the_chinese_beside_it_is() -> None:
    assert contents("我叫田中です、よろしくお願いします。我喜歡喝茶。") == ["我喜歡喝茶"]
    assert contents("我喜歡ラーメン") == ["我喜歡ラーメン"]


def test_a_capital_makes_an_english_word_in_a_chinese_clause_a_name() -> None:
    (song,) = claims_of("我最愛的歌是 Love Story")
    assert song.value == "love story"


def test_a_fact_before_a_letter_to_be_written_is_kept() -> None:
    message = "My wife Anna is allergic to nuts. Write an email: I'm Bob. I live in Rome."
    assert contents(message) == ["My wife Anna is allergic to nuts"]


def test_the_quote_is_what_was_said_even_where_a_subject_was_understood() -> None:
    named, allergic = facts_in("對了，我太太叫小玲，她對蝦子過敏喔！")
    assert (named.content, named.quote) == ("我太太叫小玲", "我太太叫小玲")
    assert (allergic.content, allergic.quote) == ("我太太小玲對蝦子過敏", "她對蝦子過敏")


def test_a_pronoun_that_nothing_explains_is_no_fact() -> None:
    assert contents("She is allergic to peanuts. It is called Ming. 它叫小明。她住台北。") == []


def test_a_subject_does_not_reach_into_the_next_sentence() -> None:
    assert contents("我太太叫小玲。不吃牛肉。") == ["我太太叫小玲"]


def test_the_category_is_in_the_language_of_the_fact() -> None:
    english, chinese = facts_in("My wife is Anna.\n我太太叫安娜。")
    assert (english.category, chinese.category) == ("People", "人物")


def test_what_is_said_twice_is_one_fact() -> None:
    assert contents("I like tea. i like TEA! 我喜歡茶，我喜欢茶") == ["I like tea", "我喜歡茶"]


def test_a_secret_is_no_fact() -> None:
    assert contents("My wifi password is hunter2. 我家 WiFi 的密碼是 hunter2。") == []


@pytest.mark.parametrize(
    ("message", "attribute"),
    [
        ("My name is Ann", "name|user"),
        ("I'm Ann", "name|user"),
        ("call me Ann", "called|user"),
        ("Our dog's name is Rex", "name|dog"),
        ("Rex is our dog", "name|dog"),
        ("the living room lamp is called Ming", "called|living room lamp"),
        ("Ming is the living room lamp", "called|living room lamp"),
        ("I live in Taipei", "home|user"),
        ("My parents live in Lisbon", "home|parents"),
        ("I work for Acme", "employer|user"),
        ("my mum's birthday is 5 June", "birthday|mother"),
        ("my favorite band is Radiohead", "favourite band|user"),
        ("I like coffee", "likes|coffee|user"),
        ("I hate coffee", "likes|coffee|user"),
        ("I keep the thermostat at 21 degrees", "setting|thermostat"),
        ("I wake up at 6:30", "wake up|user"),
        ("I have asthma", None),
        ("我叫小美", "name|user"),
        ("我老婆叫美玲", "name|太太"),
        ("客廳的燈叫做小明", "called|客厅灯"),
        ("小明就是客廳的燈", "called|客厅灯"),
        ("我住在台中", "home|user"),
        ("我在台積電上班", "employer|user"),
        ("我媽的生日是農曆五月初三", "birthday|妈妈"),
        ("我最喜歡的顏色是藍色", "favourite 颜色|user"),
        ("我討厭香菜", "likes|香菜|user"),
        ("冷氣我習慣開 26 度", "setting|冷气"),
        ("我每天早上七點起床", "起床|user"),
        ("我會彈鋼琴", None),
        ("I'm Vivian", "name|user"),
        ("I'm Taiwanese", "nationality|user"),
        ("我是 Sandy", "name|user"),
        ("我是 vegan", "diet|user"),
        ("我是 designer", "job|user"),
        ("我 wife 叫 Joyce", "name|太太"),
        ("客廳的 lamp 叫小明", "called|客厅灯"),
        ("the living room lamp 叫小明", "called|客厅灯"),
        ("I live in 板橋", "home|user"),
        ("我 work for 聯發科", "employer|user"),
        ("我 love 香菜", "likes|香菜|user"),
        ("我最愛的歌是 Love Story", "favourite 歌|user"),
        ("我 birthday 是 3/14", "birthday|user"),
    ],
)
def test_a_fact_of_which_only_one_can_hold_says_of_what(
    message: str, attribute: str | None
) -> None:
    assert attributes(message) == [attribute]
    assert attribute_of(message) == attribute


@pytest.mark.parametrize(
    ("stored", "attribute"),
    [
        ("User's dog is called Rex", "name|dog"),
        ("The user's name is Ann", "name|user"),
        ("The user lives in Taipei", "home|user"),
        ("Lives in Taipei", "home|user"),
        ("User likes coffee", "likes|coffee|user"),
        ("Doesn't like coffee", "likes|coffee|user"),
        ("User's favourite colour is green", "favourite colour|user"),
        ("the user works at Acme", "employer|user"),
        ("使用者叫小美", "name|user"),
        ("用戶住在台北", "home|user"),
        ("喜歡咖啡", "likes|咖啡|user"),
        ("女兒叫小安", "name|女儿"),
        ("", None),
        ("Buy milk", None),
    ],
)
def test_a_stored_fact_is_understood_in_the_third_person(
    stored: str, attribute: str | None
) -> None:
    assert attribute_of(stored) == attribute


@pytest.mark.parametrize(
    "message",
    lines("""
        Actually, my name is Jon, not John
        My daughter's birthday is May 3, not May 5
        My wife's name isn't Anne, it's Anna
        That's wrong. I live in Tainan.
        I don't like jazz anymore
        I no longer like coffee
        I work at Globex now
        I just moved to Kaohsiung last month
        We renamed the bedroom lamp to Stella
        I've switched from VS Code to Zed
        I stopped eating meat
        其實我叫小美，不是小梅
        我女兒不是叫小安，是叫小恩
        我的貓不叫咪咪，叫妮妮
        你記錯了，我住台南
        我不喝咖啡了
        客廳的燈改叫小華
        我現在住新店
        我上個月搬到高雄了
        更正：我的生日是五月五號
        其實我不是台北人，我是新北人
        我 actually 是台南人
        sorry 我說錯了，我生日是 May 5
        我從 LINE 跳槽到 Google 了
    """),
)
def test_a_correction_says_that_it_is_one(message: str) -> None:
    (fact,) = facts_in(message)
    assert fact.is_correction
    assert fact.attribute is not None


@pytest.mark.parametrize("message", ["I like tea", "I live in Taipei", "我叫小美", "我不吃牛肉"])
def test_a_plain_statement_is_no_correction(message: str) -> None:
    (fact,) = facts_in(message)
    assert not fact.is_correction


def test_what_is_no_longer_so_and_what_is_instead_are_one_fact() -> None:
    assert contents("我不住板橋了，現在住新店") == ["我不住板橋了，現在住新店"]
    assert contents("I don't work at Acme anymore, I work at Globex now") == [
        "I don't work at Acme anymore, I work at Globex now"
    ]


@thorough
@given(texts)
def test_a_quote_is_part_of_the_message_whatever_it_is(text: str) -> None:
    for fact in facts_in(f"{text} 我叫小美，住在台北。I like {text}, my wife is Ann. {text}"):
        assert fact.quote in f"{text} 我叫小美，住在台北。I like {text}, my wife is Ann. {text}"
        assert fact.content.strip()
        assert "\0" not in fact.content
        fact.content.encode()


def test_a_letter_that_only_looks_like_an_english_one_is_no_english_word() -> None:
    assert [fact.content for fact in facts_in("ı 很累。我住在台北")] == ["我住在台北"]
