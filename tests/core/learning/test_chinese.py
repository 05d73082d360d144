"""What Chinese messages state, in Traditional and in Simplified characters."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from tests.effort import LONG
from tests.tables import each
from turnleaf.core.languages.language import get_language
from turnleaf.core.learning.findings import find_sure_facts
from turnleaf.core.learning.recogniser import read_fact, read_message
from turnleaf.core.learning.slots import (
    Correction,
    Statement,
    Withdrawal,
    make_value_key,
    slots,
    write_fact,
)
from turnleaf.core.search.terms import simplify

TODAY = date(2026, 11, 17)

# A slot with a "-" before it no longer has its value.
WORDINGS: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("我現在固定游泳", [("practice", "", "游泳")]),
    ("我拉二胡十年了", [("practice", "", "拉二胡")]),
    ("我現在一個人住", [("household", "", "一個人住")]),
    ("我加入了登山社", [("membership", "", "登山社")]),
    ("我退出合唱團了", [("-quit", "", "合唱團")]),
    ("我在醫院輪大夜", [("workstyle", "", "輪大夜")]),
    ("我休學了", [("dropped_out", "", "")]),
    ("我家的貓送養了", [("rehomed", "cat", "")]),
    ("我兒子升上國二了", [("grade", "son", "國二")]),
    ("女兒升國二了，參加羽球隊", [("grade", "daughter", "國二")]),
    ("我每天搭捷運上班", [("commute", "", "搭捷運")]),
    ("我姊姊開花店", [("business", "older sister", "花店")]),
    ("我每天要吃降血壓藥", [("medication", "", "降血壓藥")]),
    ("醫生把冠脂妥停了，改吃立普妥", [("-medication", "", "冠脂妥"), ("medication", "", "立普妥")]),
    ("我什麼肉都吃", [("eats", "", "肉")]),
    ("我是阿美族", [("ethnicity", "", "阿美族")]),
    ("我咖啡只喝拿鐵", [("preference", "", "只喝拿鐵")]),
    ("我交女朋友了，她叫小庭", [("partner", "", "女朋友"), ("name", "partner", "小庭")]),
    ("我在夜市賣水果", [("work", "", "賣水果的")]),
    ("我換手機號碼了，新的是0922-111-222", [("-phone", "", ""), ("phone", "", "0922-111-222")]),
    (
        "信箱換了，新信箱是 mei@example.com",
        [("-email", "", ""), ("email", "", "mei@example.com")],
    ),
    ("狗狗改名了，現在叫布丁", [("-name", "dog", ""), ("name", "dog", "布丁")]),
    ("我不學鋼琴了，改學陶藝", [("-quit", "", "鋼琴"), ("studies", "", "陶藝")]),
    ("我兒子出生了！取名叫承恩", [("born", "", "兒子"), ("name", "son", "承恩")]),
    ("上個月正式退休啦", [("retired", "", "")]),
    ("菸我徹底戒了", [("quitting", "", "菸")]),
    ("幫我寫卡片給我妹，她叫小涵", [("name", "younger sister", "小涵")]),
    ("我把我爸接來桃園了", [("home", "father", "桃園")]),
    ("我跟未婚妻佳穎在看喜帖", [("name", "partner", "佳穎")]),
    ("怡君現在是我老婆了", [("name", "wife", "怡君")]),
    ("我叫王小明", [("name", "", "王小明")]),
    ("我的名字是林雅婷", [("name", "", "林雅婷")]),
    (
        "你好，我叫陈志远，今年28岁，住在杭州",
        [("name", "", "陈志远"), ("age", "", "28"), ("home", "", "杭州")],
    ),
    ("叫我阿明就好", [("nickname", "", "阿明")]),
    ("你可以叫我小华", [("nickname", "", "小华")]),
    ("請叫我 Kevin", [("nickname", "", "Kevin")]),
    ("大家都叫我阿德", [("nickname", "", "阿德")]),
    ("我的綽號是胖虎", [("nickname", "", "胖虎")]),
    ("我的生日是5月20日", [("birthday", "", "5月20日")]),
    ("我生日是1990年3月8日", [("birthday", "", "1990年3月8日")]),
    ("我是1988年出生的", [("birthday", "", "1988年")]),
    ("我今年三十五歲", [("age", "", "三十五")]),
    ("我今年三十歲，對花生過敏", [("age", "", "三十"), ("allergy", "", "花生")]),
    (
        "我女兒叫小美，今年七歲，對花生過敏",
        [("name", "daughter", "小美"), ("age", "daughter", "七"), ("allergy", "daughter", "花生")],
    ),
    ("對，我住在台北", [("home", "", "台北")]),
    ("我35岁了", [("age", "", "35")]),
    ("我是男生", [("gender", "", "男生")]),
    ("我單身", [("marital", "", "單身")]),
    ("我目前未婚", [("marital", "", "未婚")]),
    ("我结婚五年了", [("marital", "", "已婚")]),
    ("我有兩個孩子", [("child", "", "兩個孩子")]),
    ("我有一兒一女", [("child", "", "一兒一女")]),
    ("我有一个儿子和一个女儿", [("child", "", "一个儿子"), ("child", "", "一个女儿")]),
    ("我有一個妹妹", [("relative", "", "一個妹妹")]),
    ("我养了一只猫", [("pet", "", "猫")]),
    ("我家養了兩隻狗", [("pet", "", "狗")]),
    ("我養了一隻橘貓，叫咪咪", [("pet", "", "橘貓"), ("name", "cat", "咪咪")]),
    ("我有一隻鸚鵡叫可可", [("pet", "", "鸚鵡"), ("name", "parrot", "可可")]),
    ("我的狗叫旺財", [("name", "dog", "旺財")]),
    ("我女兒叫小花", [("name", "daughter", "小花")]),
    ("我太太叫美玲", [("name", "wife", "美玲")]),
    ("我老公的名字叫建國", [("name", "husband", "建國")]),
    ("我的表姐电话是13800001111", [("phone", "表姐", "13800001111")]),
    ("我表姐的電話是0912-345-678", [("phone", "表姐", "0912-345-678")]),
    ("我的手機號碼是 0922333444", [("phone", "", "0922333444")]),
    ("我的email是ming@example.com", [("email", "", "ming@example.com")]),
    ("我舅妈的邮箱是abc@test.cn", [("email", "maternal uncle's wife", "abc@test.cn")]),
    ("我的 IG 是 ming_1990", [("account", "", "ming_1990")]),
    ("我的地址是台北市大安區和平東路二段106號", [("address", "", "台北市大安區和平東路二段106號")]),
    ("我住在台北市信義區忠孝東路五段8號3樓", [("address", "", "台北市信義區忠孝東路五段8號3樓")]),
    ("我的時區是UTC+8", [("timezone", "", "UTC+8")]),
    ("我是福建泉州人", [("origin", "", "福建泉州")]),
    ("我来自成都", [("origin", "", "成都")]),
    ("我老家在台南", [("origin", "", "台南")]),
    ("我在高雄長大", [("origin", "", "高雄")]),
    ("我是日本人", [("nationality", "", "日本")]),
    ("我住在台北", [("home", "", "台北")]),
    ("我现在住上海浦东", [("home", "", "上海浦东")]),
    ("我們住在新竹", [("home", "", "新竹")]),
    ("我上個月搬到台中了", [("home", "", "台中")]),
    ("我住台北三年了", [("home", "", "台北")]),
    ("我已經不住台北了", [("-home", "", "台北")]),
    ("我搬家了", [("moved", "", "")]),
    ("我是左撇子", [("handedness", "", "左撇子")]),
    ("我是基督徒", [("belief", "", "基督")]),
    ("我信佛教", [("belief", "", "佛教")]),
    ("我在新竹上班", [("workplace", "", "新竹")]),
    ("我的公司在內湖", [("workplace", "", "內湖")]),
    ("我在台積電上班", [("employer", "", "台積電")]),
    ("我在 Google 上班", [("employer", "", "Google")]),
    ("我在腾讯工作", [("employer", "", "腾讯")]),
    ("我单位是省人民医院", [("employer", "", "省人民医院")]),
    ("我任職於中華電信", [("employer", "", "中華電信")]),
    ("我在台大醫院當護理師", [("employer", "", "台大醫院"), ("work", "", "護理師")]),
    ("我在上海做会计", [("workplace", "", "上海"), ("work", "", "会计")]),
    ("我跳槽到聯發科了", [("employer", "", "聯發科")]),
    ("我是台積電的工程師", [("employer", "", "台積電"), ("work", "", "工程師")]),
    ("我就讀於政治大學", [("school", "", "政治大學")]),
    ("我念台大資工系", [("school", "", "台大資工系")]),
    ("我是电工", [("work", "", "电工")]),
    ("我是一名護理師", [("work", "", "護理師")]),
    ("我媽媽是當護士的", [("work", "mother", "護士")]),
    ("我是做外貿的", [("work", "", "做外貿的")]),
    ("我的職業是律師", [("work", "", "律師")]),
    ("我是 software engineer", [("work", "", "software engineer")]),
    ("我已經不當老師了", [("-work", "", "老師")]),
    ("我的學歷是碩士", [("education", "", "碩士")]),
    ("我念到國中畢業", [("education", "", "國中")]),
    ("我同事讀的是大專", [("education", "colleague", "大專")]),
    ("我畢業於清華大學", [("education", "", "清華大學")]),
    ("我是台大畢業的", [("education", "", "台大")]),
    ("我主修心理學", [("studies", "", "心理學")]),
    ("我最近在學日文", [("studies", "", "日文")]),
    ("我在学钢琴", [("studies", "", "钢琴")]),
    ("我正在开发一个叫「星圖」的網站", [("project", "", "星圖")]),
    ("我對花生過敏", [("allergy", "", "花生")]),
    ("我對蝦子和螃蟹過敏", [("allergy", "", "蝦子"), ("allergy", "", "螃蟹")]),
    ("我其实对花生不过敏", [("-allergy", "", "花生")]),
    ("我吃芒果會過敏", [("allergy", "", "芒果")]),
    ("我有高血壓", [("health", "", "高血壓")]),
    ("我爸有糖尿病和痛风", [("health", "father", "糖尿病"), ("health", "father", "痛风")]),
    ("我患有氣喘", [("health", "", "氣喘")]),
    ("我吃素", [("diet", "", "吃素")]),
    ("我是奶蛋素", [("diet", "", "奶蛋素")]),
    ("我在生酮飲食", [("diet", "", "生酮飲食")]),
    ("我不吃素了", [("-diet", "", "吃素")]),
    ("我不吃香菜", [("avoids", "", "吃香菜")]),
    ("我不喝酒", [("avoids", "", "喝酒")]),
    ("我不抽菸", [("avoids", "", "抽菸")]),
    ("我不能吃辣", [("avoids", "", "吃辣")]),
    ("我身高175公分", [("measure", "", "175公分")]),
    ("我的体重是62公斤", [("measure", "", "62公斤")]),
    ("我的血型是O型", [("measure", "", "O型")]),
    ("我的星座是雙魚座", [("measure", "", "雙魚座")]),
    ("我開特斯拉", [("vehicle", "", "特斯拉")]),
    ("我的車是 Toyota Altis", [("vehicle", "", "Toyota Altis")]),
    ("我騎 Gogoro", [("vehicle", "", "Gogoro")]),
    ("我有一台鋼琴", [("possession", "", "一台鋼琴")]),
    ("冷氣都開26度", [("setting", "", "26度")]),
    ("我睡覺時習慣把冷氣設在27度", [("setting", "", "27度")]),
    ("我的母語是台語", [("mother_tongue", "", "台語")]),
    ("我會說英文和日文", [("language", "", "英文"), ("language", "", "日文")]),
    ("我会讲粤语", [("language", "", "粤语")]),
    ("我不會說法文", [("-language", "", "法文")]),
    ("我用 MacBook", [("device", "", "MacBook")]),
    ("我平常用 VS Code 寫程式", [("tool", "", "VS Code")]),
    ("我用 Neovim", [("tool", "", "Neovim")]),
    ("我最喜歡的顏色是藍色", [("favourite", "", "藍色")]),
    ("我最喜欢的电影是霸王别姬", [("favourite", "", "霸王别姬")]),
    ("我喜歡攝影", [("hobby", "", "攝影")]),
    ("我的興趣是爬山和烘焙", [("hobby", "", "爬山"), ("hobby", "", "烘焙")]),
    ("我爱好钓鱼", [("hobby", "", "钓鱼")]),
    ("我對天文很有興趣", [("hobby", "", "天文")]),
    ("我喜歡吃火鍋", [("like", "", "火鍋")]),
    ("我喜欢古镇", [("like", "", "古镇")]),
    ("我最喜歡貓", [("like", "", "貓")]),
    ("我討厭榴槤", [("dislike", "", "榴槤")]),
    ("我不喜歡下雨天", [("dislike", "", "下雨天")]),
    ("我爸喜歡喝高山茶", [("like", "father", "高山茶")]),
    ("我已經不喜歡打籃球了", [("-hobby", "", "打籃球")]),
    ("我會彈鋼琴", [("skill", "", "彈鋼琴")]),
    ("我會游泳", [("skill", "", "游泳")]),
    ("我怕蟑螂", [("fear", "", "蟑螂")]),
    ("我每天早上跑步", [("habit", "", "每天早上跑步")]),
    ("我每週三晚上上瑜伽課", [("schedule", "", "每週三晚上")]),
    ("我有午睡的习惯", [("habit", "", "午睡")]),
    ("我每天早上六點起床", [("habit", "", "每天早上六點起床")]),
    ("週二倒垃圾", [("schedule", "", "週二")]),
    ("每週四倒垃圾", [("schedule", "", "每週四")]),
    ("我女兒每週六上鋼琴課", [("schedule", "daughter", "每週六")]),
    ("我個性比較內向", [("personality", "", "內向")]),
    ("我是INTJ", [("personality", "", "INTJ")]),
    ("我的目標是考上律師", [("goal", "", "考上律師")]),
    ("我一直想學衝浪", [("goal", "", "學衝浪")]),
    ("我明天要考試", [("plan", "", "明天要考試")]),
    ("我下個月要去日本", [("plan", "", "下個月要去日本")]),
    ("以後都用繁體中文回答", [("manner", "", "用繁體中文")]),
    ("回答簡短一點", [("manner", "", "簡短一點")]),
    ("以後請不要用表情符號", [("manner", "", "不要用表情符號")]),
    ("回答请用中文", [("manner", "", "用中文")]),
    ("客廳的燈叫做小明", [("thing_name", "living room lamp", "小明")]),
    ("我的車叫小黑", [("thing_name", "car", "小黑")]),
    ("我把掃地機器人取名叫阿寶", [("thing_name", "robot vacuum", "阿寶")]),
    ("我家的扫地机器人叫阿宝", [("thing_name", "robot vacuum", "阿宝")]),
    ("客廳的燈改名叫小華", [("thing_name", "living room lamp", "小華")]),
    ("我分手了", [("separated", "", "")]),
    ("我跟女朋友分手了", [("separated", "", "")]),
    ("我離婚了", [("separated", "", "")]),
    ("我訂婚了", [("engaged", "", "")]),
    ("我结婚了", [("married", "", "")]),
    ("我被裁員了", [("lost_job", "", "")]),
    ("我失業了", [("lost_job", "", "")]),
    ("我上個月離職了", [("left_job", "", "")]),
    ("我退休了", [("retired", "", "")]),
    ("我爸去年退休了", [("retired", "father", "")]),
    ("我懷孕了", [("pregnant", "", "")]),
    ("我生了一個女兒", [("born", "", "女兒")]),
    ("我奶奶過世了", [("died", "paternal grandmother", "")]),
    ("我的猫上周去世了", [("died", "cat", "")]),
    ("我畢業了", [("graduated", "", "")]),
    ("我把車賣了", [("sold", "", "")]),
    ("我康復了", [("recovered", "", "")]),
    ("我家在台北", [("home", "", "台北")]),
    ("我現居台北", [("home", "", "台北")]),
    ("我目前定居台北", [("home", "", "台北")]),
    ("我在台北租房子住", [("home", "", "台北")]),
    ("我都住台北", [("home", "", "台北")]),
    ("我的住處在台北", [("home", "", "台北")]),
    ("我已經從台北搬到高雄了", [("home", "", "高雄")]),
    ("我搬去高雄住了", [("home", "", "高雄")]),
    ("我們全家搬到新加坡了", [("home", "", "新加坡")]),
    ("我不住台北了，現在住高雄", [("-home", "", "台北"), ("home", "", "高雄")]),
    ("我當護理師", [("work", "", "護理師")]),
    ("我的工作是護理師", [("work", "", "護理師")]),
    ("我做護理師五年了", [("work", "", "護理師")]),
    ("護理師是我的工作", [("work", "", "護理師")]),
    ("我是在醫院當護理師的", [("work", "", "護理師")]),
    ("我教高中數學", [("teaching", "", "高中數學")]),
    ("我戒菸了", [("quitting", "", "菸")]),
    ("我放棄吉他了", [("-quit", "", "吉他")]),
    ("我換工作了，現在是產品經理", [("left_job", "", ""), ("work", "", "產品經理")]),
    ("我現在改當老師了", [("work", "", "老師")]),
    ("我不再是工程師了", [("-work", "", "工程師")]),
    ("我花生過敏", [("allergy", "", "花生")]),
    ("我一吃花生就過敏", [("allergy", "", "花生")]),
    ("花生會讓我過敏", [("allergy", "", "花生")]),
    ("我不能吃花生，會過敏", [("allergy", "", "花生")]),
    ("我有花生過敏", [("allergy", "", "花生")]),
    ("醫生說我對花生過敏", [("allergy", "", "花生")]),
    ("我對花生過敏好了", [("-allergy", "", "花生")]),
    ("我現在對花生不過敏了", [("-allergy", "", "花生")]),
    ("我再也不吃素了", [("-diet", "", "吃素")]),
    ("我開始吃肉了", [("eats", "", "肉")]),
    ("我現在吃純素", [("diet", "", "吃純素")]),
    ("我是個素食者", [("diet", "", "素食者")]),
    ("我茹素多年", [("diet", "", "茹素")]),
    ("我老婆懷孕了", [("pregnant", "wife", "")]),
    ("我太太懷孕三個月了", [("pregnant", "wife", "")]),
    ("我跟太太離婚了", [("separated", "", "")]),
    ("我和交往三年的男友分手了", [("separated", "", "")]),
    ("我上週分手了", [("separated", "", "")]),
    ("我剛被公司裁員", [("lost_job", "", "")]),
    ("我昨天被資遣了", [("lost_job", "", "")]),
    ("我把工作辭了", [("left_job", "", "")]),
    ("我辭職了", [("left_job", "", "")]),
    ("我爸過世了", [("died", "father", "")]),
    ("我家的狗過世了", [("died", "dog", "")]),
    ("我家狗狗上個月走了", [("died", "dog", "")]),
    ("我上個月生了一個兒子", [("born", "", "兒子")]),
    ("我太太生了", [("born", "wife", "孩子")]),
    ("我們上個月結婚了", [("married", "", "")]),
    ("我下個月要結婚", [("plan", "", "下個月要結婚")]),
    ("我的貓叫麻糬", [("name", "cat", "麻糬")]),
    ("我家貓咪叫麻糬", [("name", "cat", "麻糬")]),
    ("我有一隻叫麻糬的貓", [("name", "cat", "麻糬")]),
    ("麻糬是我的貓", [("name", "cat", "麻糬")]),
    ("我家有一隻柴犬，名字叫豆豆", [("pet", "", "柴犬"), ("name", "dog", "豆豆")]),
    ("我的柴犬叫豆豆", [("name", "dog", "豆豆")]),
    ("我兒子叫小寶，今年三歲", [("name", "son", "小寶"), ("age", "son", "三")]),
    ("我兒子小寶三歲", [("name", "son", "小寶"), ("age", "son", "三")]),
    ("我的男朋友叫志豪", [("name", "partner", "志豪")]),
    ("我的英文名字是 Kevin", [("nickname", "", "Kevin")]),
    ("我媽住在高雄", [("home", "mother", "高雄")]),
    ("我妈妈今年60岁，住在重庆", [("age", "mother", "60"), ("home", "mother", "重庆")]),
    ("我妹妹是大學生", [("work", "younger sister", "大學生")]),
    ("我哥在台積電上班", [("employer", "older brother", "台積電")]),
    ("我爸有高血壓", [("health", "father", "高血壓")]),
    ("我女兒對蝦過敏", [("allergy", "daughter", "蝦")]),
    ("我女兒喜歡恐龍", [("like", "daughter", "恐龍")]),
    ("我岳父是退休老師", [("work", "wife's father", "退休老師")]),
    ("我室友是德國人", [("nationality", "roommate", "德國")]),
    ("我最好的朋友叫阿傑", [("name", "最好的 friend", "阿傑")]),
    ("我的手機是 iPhone 15", [("device", "", "iPhone 15")]),
    ("我換成 iPhone 了", [("tool", "", "iPhone")]),
    ("我改用 Linux 了", [("tool", "", "Linux")]),
    ("我不太能吃辣", [("avoids", "", "吃辣")]),
    ("我不愛吃青菜", [("dislike", "", "青菜")]),
    ("我超愛吃甜點", [("like", "", "甜點")]),
    ("我愛喝珍珠奶茶", [("like", "", "珍珠奶茶")]),
    ("我很喜歡村上春樹", [("like", "", "村上春樹")]),
    ("我最愛的歌手是周杰倫", [("favourite", "", "周杰倫")]),
    ("我最討厭的食物是苦瓜", [("dislike", "", "苦瓜")]),
    ("我最喜歡的運動是游泳", [("favourite", "", "游泳")]),
    ("我喜歡聽爵士樂", [("like", "", "聽爵士樂")]),
    ("我喜歡看推理小說", [("like", "", "看推理小說")]),
    ("我不喜歡看恐怖片", [("dislike", "", "看恐怖片")]),
    ("我平常週末會去爬山", [("habit", "", "週末會去爬山")]),
    ("我週末都去爬山", [("habit", "", "週末都去爬山")]),
    ("我每天晚上十一點睡", [("habit", "", "每天晚上十一點睡")]),
    ("我每天喝兩杯咖啡", [("habit", "", "每天喝兩杯咖啡")]),
    ("我習慣早起", [("habit", "", "早起")]),
    ("每週三公休", [("schedule", "", "每週三")]),
    ("我每個月5號發薪水", [("schedule", "", "每個月5號")]),
    ("我打算明年去日本留學", [("plan", "", "明年去日本留學")]),
    ("我後天要動手術", [("plan", "", "後天要動手術")]),
    ("我12月要搬家", [("plan", "", "12月要搬家")]),
    ("我的夢想是開一家咖啡店", [("goal", "", "開一家咖啡店")]),
    ("請都用繁體中文回答", [("manner", "", "用繁體中文")]),
    ("以後講話簡短一點", [("manner", "", "簡短一點")]),
    ("不要用簡體字回我", [("manner", "", "不要用簡體字")]),
    ("以後叫我老闆", [("nickname", "", "老闆")]),
    ("不要再叫我小明了", [("-nickname", "", "小明")]),
    ("我的車改名叫小白", [("thing_name", "car", "小白")]),
    ("我家的冷氣叫阿涼", [("thing_name", "air conditioner", "阿涼")]),
    ("客厅的灯叫小明", [("thing_name", "living room lamp", "小明")]),
    ("我把臥室的燈取名為月亮", [("thing_name", "bedroom lamp", "月亮")]),
    ("書房的燈就叫小智", [("thing_name", "书房的灯", "小智")]),
    ("小明是客廳的燈", [("thing_name", "living room lamp", "小明")]),
    ("我血型AB", [("measure", "", "AB")]),
    ("我體重70公斤", [("measure", "", "70公斤")]),
    ("我有近視", [("health", "", "近視")]),
    ("我有ADHD", [("health", "", "ADHD")]),
    ("我確診憂鬱症", [("health", "", "憂鬱症")]),
    ("我是高中老師", [("work", "", "高中老師")]),
    ("我是國小老師", [("work", "", "國小老師")]),
    ("我是大三學生", [("grade", "", "大三")]),
    ("我在念研究所", [("school", "", "研究所")]),
    ("我是資工系的學生", [("studies", "", "資工系")]),
    ("我唸台大電機系", [("school", "", "台大電機系")]),
    ("我大學讀法律", [("studies", "", "法律")]),
    (
        "我在 Netflix 當 data scientist",
        [("employer", "", "Netflix"), ("work", "", "data scientist")],
    ),
    ("我是 backend engineer", [("work", "", "backend engineer")]),
    ("我在一家新創公司當工程師", [("employer", "", "新創公司"), ("work", "", "工程師")]),
    ("我開了一家咖啡店", [("business", "", "咖啡店")]),
    ("我是自由接案的設計師", [("work", "", "設計師")]),
    ("我待業中", [("lost_job", "", "")]),
    ("我現在沒有工作", [("lost_job", "", "")]),
    ("我不是左撇子", [("-handedness", "", "左撇子")]),
    ("其實我叫小華，不是小明", [("name", "", "小華")]),
    ("我是虔誠的佛教徒", [("belief", "", "佛教")]),
    ("我媽媽不吃牛肉", [("avoids", "mother", "吃牛肉")]),
    ("我婆婆吃早齋", [("diet", "husband's mother", "吃早齋")]),
    ("我爺爺今年88歲，身體還很好", [("age", "paternal grandfather", "88")]),
    ("我有一輛摩托車", [("vehicle", "", "摩托車")]),
    ("我開一台 Mazda 3", [("vehicle", "", "Mazda 3")]),
    ("我的生日在十月十日", [("birthday", "", "十月十日")]),
    ("我1995年5月3號出生", [("birthday", "", "1995年5月3號")]),
    ("我老婆生日是6月7日", [("birthday", "wife", "6月7日")]),
    ("我住在加州", [("home", "", "加州")]),
    ("我住 San Francisco", [("home", "", "San Francisco")]),
    ("我 live in 台北", [("home", "", "台北")]),
    ("我的 email: kevin@example.com", [("email", "", "kevin@example.com")]),
    ("我的Line ID是kevin123", [("account", "", "kevin123")]),
    ("记住，我对青霉素过敏", [("allergy", "", "青霉素")]),
    ("記得我太太生日是3月8日", [("birthday", "wife", "3月8日")]),
    ("我是獨生女", [("birth_order", "", "獨生女")]),
    ("我是家裡的老大", [("birth_order", "", "家裡的老大")]),
    ("我爸媽離婚了", [("marital", "parents", "離婚")]),
    ("我和女朋友在一起三年了", [("partner", "", "女朋友")]),
    ("我住校", [("household", "", "住校")]),
    ("我是高雄的", [("origin", "", "高雄")]),
    ("我在上海打拼", [("workplace", "", "上海")]),
    ("我弟弟在东京念书", [("home", "younger brother", "东京")]),
    ("我初二", [("grade", "", "初二")]),
    ("我在讀研究生", [("grade", "", "研究生")]),
    ("我學的是金融", [("studies", "", "金融")]),
    ("我最近在準備考公務員", [("goal", "", "考公務員")]),
    ("我在减肥", [("goal", "", "减肥")]),
    ("我在存錢買房", [("goal", "", "存錢買房")]),
    ("我长期失眠", [("health", "", "失眠")]),
    ("我不喜歡人多的地方", [("dislike", "", "人多的地方")]),
    ("我喜歡靠窗的位子", [("like", "", "靠窗的位子")]),
    ("我常常去游泳", [("practice", "", "游泳")]),
    ("我習慣早睡早起", [("habit", "", "早睡早起")]),
    ("我一般十一點睡覺", [("habit", "", "十一點睡覺")]),
    ("我有一台特斯拉", [("vehicle", "", "特斯拉")]),
    ("我是內向的人", [("personality", "", "內向")]),
    ("我是射手座的", [("measure", "", "射手座")]),
    ("我屬龍", [("measure", "", "龍")]),
    ("我身高一米七", [("measure", "", "一米七")]),
    ("我當老師當了二十年", [("work", "", "老師")]),
    ("我當了快十年的護理師", [("work", "", "護理師")]),
    ("我有個三歲的女兒", [("child", "", "個三歲的女兒")]),
    ("我今年三十八", [("age", "", "三十八")]),
    ("我在一家国企上班", [("employer", "", "国企")]),
    ("我是學機械的", [("studies", "", "機械")]),
    ("我被诊断为双相情感障碍", [("health", "", "双相情感障碍")]),
    ("我喜歡聽陳奕迅的歌", [("like", "", "陳奕迅的歌")]),
    ("我週末通常去爬山", [("practice", "", "爬山")]),
    ("我恐高", [("fear", "", "高")]),
    ("我祖籍福建", [("origin", "", "福建")]),
    ("釣魚一直是我的興趣", [("hobby", "", "釣魚")]),
    ("身為一名護理師，我很少準時下班", [("work", "", "護理師")]),
    ("作為老師，我每天都很忙", [("work", "", "老師")]),
    ("我生於1985年", [("birthday", "", "1985年")]),
    ("我狗叫小黑，是一隻柴犬", [("name", "dog", "小黑")]),
    ("我的貓叫可樂，是橘貓", [("name", "cat", "可樂")]),
]
NEAR_MISSES = """
我喜歡你這個想法
我喜歡這首歌
我愛你
我叫了外賣
我叫他早點來
我叫車去機場
我住院了
我住院三天了
我住在哪裡
我住的地方很吵
我住過東京
我以前住台北
我小時候住在台南
如果我住在台北
我要是工程師就好了
他說我是工程師
我朋友說他住在台北
聽說我老闆要離職了
我想住在京都
我希望我是老師
我可能對花生過敏
我是不是過敏了
我對你很過敏
我對花生過敏嗎？
我有糖尿病嗎
我是負責人
我是好人
我是這個專案的負責人
我是第一次來台北
我是昨天到的
我是認真的
我是說真的
我是路過的
我是新手
我是被騙的
我是你的粉絲
我是成員之一
我是我們班最高的
我在家工作
我在努力工作
我在認真上班
我在等車
我在台北車站
我在開會
我在學校吃飯
我今天不吃晚餐
我不吃了
我不喝水
我吃素食餐廳的便當
我會用的
我會想辦法
我會說的
我會游泳嗎
我用過 Excel
我用了三天
我用 Google 查了一下
我最近很累
我每天都好累
我每天都在加班
我每次都遲到
我都可以
我都不知道
我習慣了
我不習慣這裡
我喜歡上他了
我喜歡的人
我喜歡
我不喜歡
我討厭你
我討厭這樣
我愛死了
我最喜歡的部分是結局
我最喜歡的人是你
我有一個問題
我有兩個選擇
我有個想法
我有點怕
我怕來不及
我怕你生氣
我養成了好習慣
我明天要早點睡
我下週再說
我要瘋了
我快要離職了
我差點離職
我想離職
我考慮離婚
我還沒結婚
我沒有結婚
他離婚了
她被裁員了
明星離婚了
公司裁員了
我媽快要退休了
我奶奶以前過世的時候
你叫什麼名字
你叫我怎麼辦
叫我去買菜
叫我起床
他叫我小心一點
別叫我
客廳的燈壞了
把客廳的燈關掉
客廳的燈叫什麼
這個叫做人工智慧
那輛車叫什麼
他的車叫小黑
請翻譯：我是一名醫生
「我是醫生」這句話怎麼翻
請扮演一位老師，我是學生
你是一名律師，我是你的客戶
請寫一篇作文，我叫小明，我住在台北
小明說：「我住在台北。」
歌詞：我住在你心裡
以後再說
以後都不會了
回答我
請回答下列問題：我叫王明，我今年20歲。
我的電話壞了
我的手機是新的
我的地址寫錯了
我身高不高
我體重又增加了
我生日快到了
我生日那天下雨
我今年運氣很好
我3歲的時候去過日本
我快30歲了
我朋友圈都在吵
我老師傅
我同學會在下週
我先生氣一下
行行行，我是老闆，滿意了吧
我住的是宿舍
大家都很好，尤其是我媽
我老婆餅吃完了
我爸媽的房子
我媽媽說不要吃
我狗糧買錯了
我貓砂用完了
我們公司在招人
我們老師很兇
我方決定退出
我國人口減少
我校成立於1950年
本人保證以上屬實
我是一隻魚
我是一個粉刷匠
我像個傻子
我不是不吃辣
我沒有過敏
我一個人住酒店
我住了三年宿舍
我在北京出差
我在日本旅行
我剛從日本回來
我是打車來的
我開車去台中
我開會去了
我騎車摔倒了
我的車壞了
我的車是借的
我讀了一本書
我讀不懂
我念給你聽
我學到很多
我在學怎麼煮飯
我學不會
我信你
我不信
我信任他
我信用卡丟了
我的目標是先吃飯
我想學一下怎麼用
我想成為你的朋友
我這幾天住在上海
我住在台北三天
我搬到新座位了
我每天寫週報
我每天跑客戶
我每天早上看行情
我最喜歡週末了
我喜歡挑戰
我喜歡慢慢來
我最近不吃甜食
我想當面說
我準備考試
我昨晚失眠
我在存錢
我在日本讀書的時候
作為老師，你覺得呢
身為朋友，我很擔心他
""".strip().splitlines()


def _read(text: str) -> list[tuple[str, str, str]]:
    return [
        ("-" * one.is_over + one.slot, one.subject, one.value)
        for one in read_message(text)
        if isinstance(one, Statement)
    ]


@each("text, stated", WORDINGS)
def test_a_wording_states_its_facts(text: str, stated: list[tuple[str, str, str]]) -> None:
    assert _read(text) == stated


def test_a_wording_in_simplified_characters_states_the_same() -> None:
    for text, stated in WORDINGS:
        expected = [(slot, subject, simplify(value)) for slot, subject, value in stated]
        assert _read(simplify(text)) == expected, text


@each("text", NEAR_MISSES)
def test_a_near_miss_states_nothing(text: str) -> None:
    assert read_message(text) == []
    assert read_message(simplify(text)) == []


def _statements() -> list[Statement]:
    found = [one for text, _ in WORDINGS for one in read_message(text)]
    return [one for one in found if isinstance(one, Statement) and not one.is_over]


def _describe(statement: Statement) -> tuple[str, str, str, str]:
    return (statement.slot, statement.subject, statement.kind, make_value_key(statement.value))


def test_every_slot_is_stated_by_some_wording() -> None:
    written = {name for name, words in get_language("zh").slots.items() if words.say}
    assert {one.slot for one in _statements()} == written


def test_every_fact_is_read_back_as_what_it_was_made_of() -> None:
    for statement in _statements():
        fact = write_fact(statement, TODAY)
        for spelt in (fact, simplify(fact)):
            assert [*map(_describe, read_fact(spelt))] == [_describe(statement)], spelt


def test_every_fact_about_somebody_else_is_read_back() -> None:
    for statement in _statements():
        if not slots()[statement.slot].others or statement.slot in {"thing_name", "setting"}:
            continue
        other = replace(statement, subject="表妹", subject_text="表妹")
        fact = write_fact(other, TODAY)
        assert [*map(_describe, read_fact(fact))] == [_describe(other)], fact


def test_an_event_is_dated_by_when_it_happened() -> None:
    facts = {
        text: write_fact(one, date(2027, 1, 5), text)
        for text in ("我離職了", "我上個月離職了", "我去年離職了")
        for one in read_message(text)
        if isinstance(one, Statement)
    }
    assert [*facts.values()] == ["我離職了（2027-01）", "我離職了（2026-12）", "我離職了（2026）"]


def test_a_fact_is_written_in_the_script_of_its_message() -> None:
    [statement] = read_message("我太太住在台北，她们那边常下雨")
    assert isinstance(statement, Statement)
    assert write_fact(statement, TODAY, "我老婆住在台北") == "我太太住在台北"
    statement = replace(statement, value="杭州")
    assert write_fact(statement, TODAY, "我爱人对这里很满意") == "我太太住在杭州"
    [drink] = read_message("我對花生過敏")
    assert isinstance(drink, Statement)
    assert write_fact(drink, TODAY, "我对花生过敏") == "我对花生过敏"


def test_what_is_no_longer_said_ends_with_the_name_of_what_it_ends() -> None:
    assert _read("我已經不住台北了") == [("-home", "", "台北")]


@pytest.mark.parametrize(
    ("text", "new", "old"),
    [
        ("不是小明，是小華", "小華", "小明"),
        ("更正，是週四", "週四", ""),
        ("說錯了，是下午三點", "下午三點", ""),
        ("不對，是小華", "小華", ""),
        ("我搞錯了，是週四", "週四", ""),
        ("抱歉，應該是週四", "週四", ""),
        ("我的名字不是小明，是小華", "小華", "小明"),
    ],
)
def test_a_correction_names_what_is_right(text: str, new: str, old: str) -> None:
    [correction] = read_message(text)
    assert isinstance(correction, Correction)
    assert (correction.new, correction.old) == (new, old)


@pytest.mark.parametrize(
    "text", ["開玩笑的", "當我沒說", "我剛剛是開玩笑的", "騙你的啦", "我亂講的"]
)
def test_a_withdrawal_is_read(text: str) -> None:
    assert [type(one) for one in read_message(text)] == [Withdrawal]


def test_clauses_before_reported_speech_are_read() -> None:
    assert _read("我住在花蓮，我同事說我住在山上") == [("home", "", "花蓮")]


def test_what_another_clause_was_about_goes_on() -> None:
    assert _read("我姊姊是律師，住在高雄。她對蝦子過敏。") == [
        ("work", "older sister", "律師"),
        ("home", "older sister", "高雄"),
        ("allergy", "older sister", "蝦子"),
    ]


def test_english_meets_chinese() -> None:
    assert make_value_key("花生") == make_value_key("peanuts")
    assert make_value_key("吃香菜") == make_value_key("cilantro")
    assert make_value_key("台北市") == make_value_key("Taipei")
    assert make_value_key("電工") == make_value_key("electrician")


def test_hostile_text_is_read_to_its_end() -> None:
    language = get_language("zh")
    units = {cue for words in language.slots.values() for cue in words.cues} | {
        "我",
        "的",
        "，",
        "每",
    }
    frames = ("我{}", "我太太{}了", "{}", "我對{}過敏")
    for number, unit in enumerate(sorted(units)):
        for frame in frames if LONG else (frames[number % len(frames)],):
            assert len(read_message(frame.format(unit * 20_000))) <= 1


def test_every_rule_is_quick_on_a_clause_of_one_repeated_word() -> None:
    language = get_language("zh")
    for words in language.slots.values():
        for rule in words.rules:
            for unit in ("我", "每天", "現在", "都", "剛", "上個月", "陳", "a "):
                clause = "\ue000" + unit * (240 // len(unit))
                rule.regex.match(clause)


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("我女兒的老師叫什麼？", "我有女兒"),
        ("禮拜六跟我男朋友去看電影好嗎", "我有男朋友"),
        ("我家的貓又吐了", "我有養貓"),
        ("我老婆今天加班", "我有太太"),
        ("我今年大三", "我讀大三"),
    ],
)
def test_what_is_mentioned_is_learned(text: str, fact: str) -> None:
    assert [one.content for one in find_sure_facts(text, NOW)] == [fact]


@pytest.mark.parametrize(
    "text", ["我跟我女朋友分手了", "我的狗走了", "我前男友又來了", "我貓砂買錯了"]
)
def test_nobody_is_supposed_who_is_not_there(text: str) -> None:
    facts = [one.content for one in find_sure_facts(text, NOW)]
    assert not any(fact.startswith("我有") for fact in facts)


@pytest.mark.parametrize(
    ("text", "fact"),
    [("我女兒今年五歲", "我女兒在 2026 年時五歲"), ("我女兒今年5歲", "我女兒在 2026 年時 5 歲")],
)
def test_an_age_is_written_as_it_was_said(text: str, fact: str) -> None:
    assert [one.content for one in find_sure_facts(text, NOW)] == [fact]
    assert [(one.slot, one.subject) for one in read_fact(fact)] == [("age", "daughter")]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("我爺爺去年過世了", "我爺爺過世了（2025）"),
        ("我外婆突然過世了", "我外婆過世了（2026-01）"),
    ],
)
def test_a_word_for_a_time_is_no_name(text: str, fact: str) -> None:
    assert [one.content for one in find_sure_facts(text, NOW)] == [fact]


def test_a_faith_has_one_name() -> None:
    assert [one.content for one in find_sure_facts("我是穆斯林", NOW)] == ["我信伊斯蘭教"]


def test_a_dog_that_ran_away_was_not_given_away() -> None:
    assert not any("送養" in one.content for one in find_sure_facts("我的狗昨天走丟了", NOW))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("我女兒七歲。對花生過敏。", ("allergy", "daughter", "花生")),
        ("我兒子三歲。不喜歡花椰菜。", ("dislike", "son", "花椰菜")),
        ("我媽七十歲。吃素。", ("diet", "mother", "吃素")),
        ("我哥哥是護理師。生日是五月三日。", ("birthday", "older brother", "五月三日")),
        ("我妹是律師。在台中工作。", ("workplace", "younger sister", "台中")),
        ("我女兒很可愛。今年七歲。", ("age", "daughter", "七")),
    ],
)
def test_a_sentence_without_a_subject_is_about_whom_the_last_one_was(
    text: str, fact: tuple[str, str, str]
) -> None:
    found = [
        (one.slot, one.subject, one.value)
        for one in read_message(text)
        if isinstance(one, Statement)
    ]
    assert fact in found
    assert (fact[0], "", fact[2]) not in found


@pytest.mark.parametrize(
    "text",
    [
        "我太太做了沙嗲。對花生過敏，所以我不能吃。",
        "我帶女兒去看醫生。對花生過敏。",
        "我有個女兒。對花生過敏。",
        "我有個姪子。六歲。",
        "小華昨天來。對花生過敏。",
    ],
)
def test_nobody_gets_what_may_be_said_of_two(text: str) -> None:
    slots_found = {one.slot for one in read_message(text) if isinstance(one, Statement)}
    assert not slots_found & {"allergy", "age"}
