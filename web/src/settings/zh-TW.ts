import type { en, FieldWords } from "./en";

const fields: Record<string, FieldWords> = {
  enabled: {
    label: "使用記憶",
    meaning: "把記得的事帶進每一次對話，並從對話中學習。關掉以後什麼都不會消失，你自己要求的事也照常運作。",
  },
  memoryMaxItems: {
    label: "記憶則數上限",
    meaning: "最多保留幾則記憶。滿了以後，要先刪除一些才能新增；你自己動手的修改不受限制。",
    unit: "則",
  },
  memoryMaxChars: {
    label: "記憶長度上限",
    meaning: "所有記憶合計的長度。記憶會放進每一次的提示詞，越長花費越多。",
    unit: "字元",
  },
  promptMaxTokens: {
    label: "提示詞長度上限",
    meaning: "一次最多給模型讀多少內容：記憶、搜尋到的資料和對話都算在內。",
    unit: "token",
  },
  contextMaxTokens: {
    label: "搜尋結果長度上限",
    meaning: "提示詞裡最多放多少過去的對話和筆記。設為 0 就不搜尋。",
    unit: "token",
  },
  memoryLocation: {
    label: "記憶檔案",
    meaning: "長期記憶存放的位置；沒有設定就放在預設的資料夾裡。",
  },
  autoExtract: {
    label: "自動學習",
    meaning: "從對話中留意值得長久記住的事並記下來，每一則都附上原話。學到的內容隨時可以查看、修改或復原。",
  },
  extractIntervalSeconds: {
    label: "兩次學習的間隔",
    meaning: "同一段對話學習過後，隔多久才會再學一次。",
    unit: "秒",
  },
  minNewMessages: {
    label: "累積多少新訊息才學習",
    meaning: "對話要有這麼多新內容，才會再從中找出值得記住的事。",
    unit: "則",
  },
  flushThreshold: {
    label: "上下文用到多少就立刻學習",
    meaning: "在模型的上下文塞滿、舊訊息被擠掉之前，先把重要的事記下來。",
  },
  extractModel: {
    label: "負責學習的模型",
    meaning: "留空就用回答問題的同一個模型；填 rules 則完全不用模型。",
  },
  extractDailyCalls: {
    label: "每天最多用模型學習幾次",
    meaning: "超過之後，到午夜前都改用簡單的規則學習。",
    unit: "次",
  },
  instructions: {
    label: "每次回答都要遵守的指示",
    meaning: "例如：用一句話回答。",
  },
  contextWindow: {
    label: "模型的上下文長度",
    meaning: "透過 API 使用的模型一次能容納多少內容，例如 Ollama 的 num_ctx。留空則向模型的伺服器查詢。",
    unit: "token",
  },
  claudeTimeoutMs: {
    label: "等待回答的時間上限",
    meaning: "超過就停止，已經說出的部分會保留。",
    unit: "毫秒",
  },
  embeddings: {
    label: "比對語意",
    meaning: "用不同的說法、甚至不同的語言，也能找到意思相同的內容。需要語意模型。",
  },
  embeddingsUrl: {
    label: "語意模型的網址",
    meaning: "留空就用隨 Turnleaf 安裝的那一個。",
  },
  embeddingsModel: {
    label: "語意模型",
    meaning: "在那個網址使用哪一個模型。",
  },
  searchVectorWeight: {
    label: "語意的比重",
    meaning: "搜尋時，「意思相近」佔多少分量。",
  },
  searchBm25Weight: {
    label: "字詞的比重",
    meaning: "搜尋時，「用字相同」佔多少分量。",
  },
  conversationKeepDays: {
    label: "訊息保留多久",
    meaning: "留空就永久保留每一則訊息；填 0 只保留模型還看得到的部分。超過天數的訊息會徹底刪除。",
    unit: "天",
  },
  conversationMaxTurns: {
    label: "提示詞裡的訊息數",
    meaning: "模型看得到對話裡最近幾則訊息；最後一次問答一定包含在內。",
    unit: "則",
  },
  conversationMaxChars: {
    label: "提示詞裡的字元數",
    meaning: "同樣的限制，以字元計算。",
    unit: "字元",
  },
  conversationMaxAgeDays: {
    label: "多久沒動靜就重新開始",
    meaning: "隔了這麼多天沒有新訊息，模型就不再看到之前說過的話。",
    unit: "天",
  },
  conversationsLocation: {
    label: "對話檔案",
    meaning: "對話存放的位置；沒有設定就放在預設的資料夾裡。",
  },
  slackAllowedUsers: {
    label: "回答哪些人",
    meaning:
      "Slack 成員的 ID，例如 U012AB3CD，用逗號分隔。他們共用這份記憶；機器人不會回答其他人，也不會從他們的話裡學習。",
  },
  slackAllowedChannels: {
    label: "在哪些頻道回答所有成員",
    meaning: "頻道的 ID，例如 C012AB3CD，用逗號分隔。能在那裡發言的工作區成員都共用這份記憶；訪客要列在上面才算。",
  },
  slackSpaces: {
    label: "有自己記憶的人",
    meaning:
      "成員 ID 與空間名稱，例如 U012AB3CD=anna，用逗號分隔。這些人說的話只存在自己的空間，不與其他人共用；他們也要列在上面的名單裡。",
  },
};

export const zhTW: typeof en = {
  title: "設定",
  intro: "在這裡改的設定會立刻生效。",
  appearance: { title: "外觀", text: "只影響這個瀏覽器。" },
  groups: {
    learning: { title: "自動學習", text: "怎麼從對話中找出值得記住的事。" },
    memory: { title: "記憶", text: "要記住什麼、記住多少。" },
    model: { title: "模型", text: "在對話中由誰回答你。" },
    search: { title: "搜尋", text: "怎麼把記過的事找回來。" },
    conversations: { title: "對話", text: "說過的話要留多久。" },
    slack: { title: "Slack", text: "機器人和誰共用這份記憶。" },
    other: { title: "其他", text: "" },
  },
  fields,
  tokens: {
    title: "使用者",
    text: "給其他人的權杖。空間的權杖只能開啟那一份記憶；管理者的權杖可以開啟全部。",
    none: "目前沒有權杖。有了第一個權杖之後，沒有權杖的人就無法使用這台伺服器；你自己可以用一次性連結進來。",
    once: "這是新的權杖，只會顯示這一次。",
    copy: "複製權杖",
    operator: "管理者",
    used: (when) => `上次使用：${when}`,
    unused: "還沒用過",
    ends: (day) => `到 ${day} 為止`,
    noEnd: "沒有期限",
    revoke: "撤銷",
    really: "確定撤銷",
    space: "空間",
    spaceHint: "小寫字母和數字，例如 bob。留空就是管理者的權杖。",
    name: "名稱",
    lastDay: "最後一天",
    add: "建立權杖",
  },
  auto: {
    on: "Turnleaf 會從對話中學習。",
    off: "Turnleaf 只記住你要求記住的事。",
    noMemory: "下方的「使用記憶」關閉時，這個開關沒有作用。",
  },
  locked: "這項設定已由伺服器的管理者固定。",
  notHere: "只能由管理者在伺服器那台電腦上更改。",
  reset: (value) => `恢復預設值（${value}）`,
  nothing: "無",
  unset: "未設定",
  saved: "已儲存",
  wholeNumber: (least) => `請填 ${least} 以上的整數。`,
  share: "請填 0 到 100 之間的數字。",
  percent: "百分比",
};
